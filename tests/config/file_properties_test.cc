// SPDX-License-Identifier: MIT
#include "config/file_properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(FileProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("config/corpus/layer", config::broken_for_layer);
    fuzz::expect_unbroken("config/corpus/profile", config::broken_for_profile);
    fuzz::expect_unbroken("config/corpus/variables", config::broken_for_variables);
    fuzz::expect_unbroken("config/corpus/command", config::broken_for_command);
}

}  // namespace
