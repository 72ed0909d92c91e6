// SPDX-License-Identifier: MIT
#include "doorman/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(DoormanProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("doorman/corpus/address", doorman::broken_for_address);
}

TEST(DoormanProperties, SeedsNameTheLoopback) {
    EXPECT_TRUE(doorman::names_loopback(fuzz::seed("doorman/corpus/address/v4")));
    EXPECT_TRUE(doorman::names_loopback(fuzz::seed("doorman/corpus/address/mapped")));
    EXPECT_FALSE(doorman::names_loopback(fuzz::seed("doorman/corpus/address/elsewhere")));
}

}  // namespace
