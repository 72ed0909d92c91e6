// SPDX-License-Identifier: MIT
#include "diff/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(DiffProperties, HoldForEverySeedAndEveryDamagedOne) {
    fuzz::expect_unbroken("diff/corpus/texts", diff::broken_for_texts);
}

}  // namespace
