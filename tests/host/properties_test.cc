// SPDX-License-Identifier: MIT
#include "host/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(HostProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("host/corpus/findings", host::broken_for_findings);
}

}  // namespace
