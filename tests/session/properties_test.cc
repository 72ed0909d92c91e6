// SPDX-License-Identifier: MIT
#include "session/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(NoticeProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("session/corpus/notice", session::broken_for_notice);
}

}  // namespace
