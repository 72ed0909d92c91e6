// SPDX-License-Identifier: MIT
#include "base/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(BaseProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("base/corpus/base64", base::broken_for_base64);
    fuzz::expect_unbroken("base/corpus/json", base::broken_for_json);
    fuzz::expect_unbroken("base/corpus/path", base::broken_for_path);
    fuzz::expect_unbroken("base/corpus/glob", base::broken_for_glob);
}

}  // namespace
