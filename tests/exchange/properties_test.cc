// SPDX-License-Identifier: MIT
#include "exchange/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace network::exchange {
namespace {

TEST(ExchangeProperties, HoldForTheSeeds) {
    fuzz::expect_unbroken("exchange/corpus/redactor", broken_for_redactor);
    fuzz::expect_unbroken("exchange/corpus/credential_exchange", broken_for_credential_exchange);
    fuzz::expect_unbroken("exchange/corpus/answer", broken_for_answer);
    fuzz::expect_unbroken("exchange/corpus/token_request", broken_for_token_request);
    fuzz::expect_unbroken("exchange/corpus/token_answer", broken_for_token_answer);
    fuzz::expect_unbroken("exchange/corpus/sigv4", broken_for_sigv4);
}

}  // namespace
}  // namespace network::exchange
