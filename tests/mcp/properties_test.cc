// SPDX-License-Identifier: MIT
#include "mcp/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(McpProperties, HoldForEverySeedAndEveryDamagedOne) {
    fuzz::expect_unbroken("mcp/corpus/lines", mcp::broken_for_lines);
    fuzz::expect_unbroken("mcp/corpus/answers", mcp::broken_for_answers);
}

}  // namespace
