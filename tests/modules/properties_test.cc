// SPDX-License-Identifier: MIT
#include "modules/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(AnswerProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("modules/corpus/answer", modules::broken_for_answer);
}

}  // namespace
