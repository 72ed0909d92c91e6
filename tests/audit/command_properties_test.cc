// SPDX-License-Identifier: MIT
#include "audit/command_properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(CommandProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("audit/corpus/command", audit::broken_for_command);
}

}  // namespace
