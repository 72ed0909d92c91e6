// SPDX-License-Identifier: MIT
#include "tls/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace network::tls {
namespace {

TEST(TlsProperties, HoldForTheSeeds) {
    fuzz::expect_unbroken("tls/corpus/endpoint", broken_for_endpoint);
    fuzz::expect_unbroken("tls/corpus/trust_store", broken_for_trust_store);
}

}  // namespace
}  // namespace network::tls
