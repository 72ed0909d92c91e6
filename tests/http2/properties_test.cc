// SPDX-License-Identifier: MIT
#include "http2/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace network::http2 {
namespace {

TEST(Http2Properties, HoldForTheSeeds) {
    fuzz::expect_unbroken("http2/corpus/server", broken_for_server);
    fuzz::expect_unbroken("http2/corpus/client", broken_for_client);
}

}  // namespace
}  // namespace network::http2
