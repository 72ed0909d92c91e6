// SPDX-License-Identifier: MIT
#include "rules/question_properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(QuestionProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("rules/corpus/question", network::broken_for_question);
}

}  // namespace
