// SPDX-License-Identifier: MIT
#include "cli/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(ArgumentProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("cli/corpus/arguments", cli::broken_for_arguments);
}

}  // namespace
