// SPDX-License-Identifier: MIT
#include "tracer/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace {

TEST(HandoffMessageProperties, HoldForEverySeed) {
    fuzz::expect_unbroken("tracer/corpus/notes", tracer::broken_for_notes);
}

}  // namespace
