// SPDX-License-Identifier: MIT
#include "requests/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace network::requests {
namespace {

TEST(RequestProperties, HoldForTheSeeds) {
    fuzz::expect_unbroken("requests/corpus/rules", broken_for_rules);
    fuzz::expect_unbroken("requests/corpus/push", broken_for_push);
    fuzz::expect_unbroken("requests/corpus/graphql", broken_for_graphql);
}

}  // namespace
}  // namespace network::requests
