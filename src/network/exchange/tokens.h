// SPDX-License-Identifier: MIT
// Token endpoints: a request there holds a token in its body, and the answer has new ones. Log-ins with a
// subscription work this way. Pure.
//
// In a request the placeholder is replaced by the value, where `put = "body NAME"` names the field. In an
// answer the fields of `issues` are replaced by the placeholders of their credentials, so that the jail gets
// no new token. Both bodies are read whole: JSON, or a form. Only fields at the top level count.
//
// Threats: a placeholder in a second place of the body, a grant that gives a token of another kind, an answer
// that spells a token so that it is not found, and an answer with a token of no credential. Tests:
// tests/exchange/tokens_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"
#include "network/exchange/binding.h"
#include "network/exchange/placeholders.h"
#include "network/exchange/refusal.h"

namespace network::exchange {

constexpr size_t kMaximumTokenRequest = 64 << 10;
constexpr size_t kMaximumTokenAnswer = 256 << 10;

// The numbers of the bindings that get a value from the answer to this request.
std::vector<size_t> issued_by(std::span<const Binding> bindings, const Place& place, std::string_view method,
                              const requests::CanonicalPath& path);

enum class BodyForm { json, form, unknown };
BodyForm form_of(std::string_view content_type);

// Where the placeholders are in the body of a request.
struct TokenRequest {
    struct Part {
        size_t binding;
        size_t at, size;
    };
    std::vector<Part> parts;  // one after the other
    BodyForm form = BodyForm::unknown;
    // Not set: the request can be sent. `parts` is empty in a log-in, which sends a code and no token.
    Code code = Code::request_refused;
    std::string fault;
};
TokenRequest read_token_request(std::string_view body, BodyForm form, const Place& place,
                                std::span<const Binding> bindings, const PlaceholderFinder& finder);
// The body with the values; `values` are in the order of `order`, which are numbers of bindings.
base::SecretValue with_values(std::string_view body, const TokenRequest& request,
                              std::span<const size_t> order,
                              std::span<const base::SecretValue* const> values);

struct NewToken {
    size_t binding;
    base::SecretValue value;
};
struct NewTokens {
    std::vector<NewToken> tokens;
    int64_t expires_in = 0;  // seconds; 0: the answer does not tell
    std::string scope;
};
struct TokenAnswer {
    NewTokens issued;
    std::string body;  // with placeholders
    std::string_view fault;
};
// `issued` are the numbers of issued_by().
TokenAnswer read_token_answer(std::string_view body, BodyForm form, std::span<const Binding> bindings,
                              std::span<const size_t> issued);

}  // namespace network::exchange
