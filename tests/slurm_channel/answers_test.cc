// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"
#include "slurm_channel/properties.h"

namespace {

TEST(AnswerProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("slurm/corpus/answers", slurm::channel::broken_for_answers);
}

}  // namespace
