// SPDX-License-Identifier: MIT
// Properties of exchanges and of redaction for any bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "network/exchange/answer.h"
#include "network/exchange/exchange.h"
#include "network/exchange/sigv4.h"
#include "network/exchange/tokens.h"

namespace network::exchange {

inline constexpr std::string_view kFuzzValue = "canary/0123456789+==";
inline constexpr std::string_view kFuzzPlaceholder = "ghp_placeholder0123456789";

inline RedactionForms fuzz_forms() {
    RedactionForms forms;
    base::SecretValue value;
    value.append(kFuzzValue);
    forms.add(value, {"x"});
    return forms;
}

// The first byte is the size of the pieces. The result must not depend on it and not hold the value.
inline const char* broken_for_redactor(std::string_view input) {
    static const RedactionForms forms = fuzz_forms();
    if (input.empty()) return nullptr;
    size_t piece = static_cast<unsigned char>(input[0]) + 1u;
    input.remove_prefix(1);
    std::string whole = Redactor(&forms).redacted(input), out;
    Redactor redactor(&forms);
    for (size_t at = 0; at < input.size(); at += piece) {
        redactor.take(input.substr(at, piece), out);
        if (redactor.held() >= forms.longest()) return "too much is held back";
    }
    redactor.finish(out);
    if (out != whole) return "the result depends on the pieces";
    if (out.size() != input.size()) return "the length changes";
    if (out.find(kFuzzValue) != std::string::npos) return "a value passes";
    return nullptr;
}

struct FuzzResult {
    Exchange::Stage stage = Exchange::Stage::head;
    std::string sent;
    size_t used = 0;
};

inline FuzzResult fuzz_run(std::string_view input, size_t piece) {
    static const std::vector<Binding> bindings = [] {
        Binding binding{.name = "github",
                        .hosts = {*requests::parse_host_pattern("a.example")},
                        .puts = *parse_puts("bearer or git or query key or header x-key"),
                        .placeholder = std::string(kFuzzPlaceholder)};
        Binding other{.name = "other",
                      .hosts = {*requests::parse_host_pattern("b.example")},
                      .puts = *parse_puts("bearer"),
                      .placeholder = "sk-elsewhere-0123456789"};
        std::vector<Binding> made;
        made.push_back(binding);
        made.push_back(other);
        return made;
    }();
    static const requests::RequestRules rules = *requests::RequestRules::make(
        {.block = {{"* a.example/keys/**", {}}, {"graphql mutation a.example/graphql", {}}},
         .git = {{"push a.example/me/** refs/heads/agent/*", {}}}});
    static const PlaceholderFinder finder({bindings[0].placeholder, bindings[1].placeholder});
    Context context{{.host = "a.example", .expected_host = "a.example"}, &rules, bindings, finder};
    Exchange exchange(context);
    FuzzResult result;
    base::SecretValue value;
    value.append(kFuzzValue);
    const base::SecretValue* values[] = {&value, &value};
    bool is_done = false;
    while (result.used < input.size() && !is_done) {
        size_t used = exchange.take(input.substr(result.used, piece), result.sent);
        result.used += used;
        if (exchange.stage() == Exchange::Stage::ready) {
            std::string body;
            exchange.write_head(values, body).reveal([&](std::string_view bytes) { result.sent += bytes; });
            result.sent += body;
        }
        is_done = exchange.stage() == Exchange::Stage::complete ||
                  exchange.stage() == Exchange::Stage::refused ||
                  exchange.stage() == Exchange::Stage::upgrading;
    }
    result.stage = exchange.stage();
    return result;
}

inline const char* broken_for_credential_exchange(std::string_view input) {
    FuzzResult whole = fuzz_run(input, input.size()), bytewise = fuzz_run(input, 1);
    if (whole.stage != bytewise.stage) return "the stage depends on the pieces";
    if (whole.stage == Exchange::Stage::head && !whole.sent.empty())
        return "a byte is sent before the head was read";
    if (whole.sent.empty()) return nullptr;
    size_t end = whole.sent.find("\r\n\r\n");
    if (end == std::string::npos) return "the head that is sent has no end";
    std::string_view head = std::string_view(whole.sent).substr(0, end + 4);
    if (head.find(kFuzzPlaceholder) != std::string_view::npos) return "a placeholder is forwarded in a head";
    if (head.find("sk-elsewhere-0123456789") != std::string_view::npos)
        return "a foreign placeholder is forwarded";
    if (head.find('\1') != std::string_view::npos) return "a mark is left in the head";
    // A server reads the same request.
    wire::HttpHeadReader reader;
    if (reader.look(head) != wire::HttpHeadReader::State::complete)
        return "the head that is sent is malformed";
    if (!reader.request().host || reader.request().host->host != "a.example")
        return "the head names another host";
    if (reader.request().path.starts_with("/keys/")) return "a blocked request is forwarded";
    return nullptr;
}

inline const char* broken_for_answer(std::string_view input) {
    static const RedactionForms forms = fuzz_forms();
    wire::HttpRequest request;
    request.method = "GET";
    request.wants_websocket = true;
    std::string texts[2];
    Answer::Stage stages[2];
    for (size_t round : {0u, 1u}) {
        Answer answer(request, &forms);
        size_t piece = round == 0 ? input.size() : 1;
        for (size_t at = 0; at < input.size();) {
            size_t used = answer.take(input.substr(at, piece), texts[round]);
            if (used == 0) break;
            at += used;
        }
        answer.end(texts[round]);
        stages[round] = answer.stage();
        if (answer.is_uninspected()) return nullptr;
    }
    if (stages[0] != stages[1]) return "the stage depends on the pieces";
    if (texts[0].find(kFuzzValue) != std::string::npos) return "a value passes";
    return nullptr;
}

inline Binding fuzz_login() {
    Binding binding{.name = "login",
                    .hosts = {*requests::parse_host_pattern("auth.example")},
                    .puts = *parse_puts("body refresh_token"),
                    .placeholder = std::string(kFuzzPlaceholder)};
    binding.issues = {*parse_issuer("POST auth.example/token refresh_token")};
    return binding;
}

// The first byte is the form: a form if it is odd, otherwise JSON. What a server reads of a request that is
// sent has the value in the field `refresh_token` and nowhere else, and no other refresh is sent.
inline const char* broken_for_token_request(std::string_view input) {
    static const std::vector<Binding> bindings = {fuzz_login()};
    static const PlaceholderFinder finder({bindings[0].placeholder});
    if (input.empty()) return nullptr;
    const BodyForm form = (input[0] & 1) != 0 ? BodyForm::form : BodyForm::json;
    const std::string body(input.substr(1));
    const Place place{.host = "auth.example", .expected_host = "auth.example"};
    const TokenRequest request = read_token_request(body, form, place, bindings, finder);
    if (!request.fault.empty())
        return request.parts.empty() ? nullptr : "a request that is refused has parts";
    base::SecretValue value;
    value.append(kFuzzValue);
    const base::SecretValue* values[] = {&value};
    const size_t order[] = {0};
    std::string sent;
    with_values(body, request, order, values).reveal([&](std::string_view bytes) { sent = bytes; });
    if (sent.find(kFuzzPlaceholder) != std::string::npos) return "a placeholder is sent";
    if (form == BodyForm::form) return nullptr;
    base::Result<base::Json> json = base::Json::parse(sent);
    if (!json || !json->is_object()) return "the body that is sent is malformed";
    const base::Json *grant = json->find("grant_type"), *token = json->find("refresh_token");
    if (grant == nullptr || grant->as_text() == nullptr) return "a request without a grant is sent";
    const bool has_value = token != nullptr && token->as_text() != nullptr && *token->as_text() == kFuzzValue;
    if (*grant->as_text() == "refresh_token" && !has_value) return "a refresh of another token is sent";
    return nullptr;
}

inline const char* broken_for_token_answer(std::string_view input) {
    static const std::vector<Binding> bindings = {fuzz_login()};
    const size_t issued[] = {0};
    if (input.empty()) return nullptr;
    const BodyForm form = (input[0] & 1) != 0 ? BodyForm::form : BodyForm::json;
    const TokenAnswer answer = read_token_answer(input.substr(1), form, bindings, issued);
    if (!answer.fault.empty()) return nullptr;
    const char* broken = nullptr;
    for (const NewToken& token : answer.issued.tokens) {
        token.value.reveal([&](std::string_view bytes) {
            if (answer.body.find(bytes) != std::string::npos) broken = "a new token passes";
        });
    }
    return broken;
}

// The field Authorization, or a query.
inline const char* broken_for_sigv4(std::string_view input) {
    base::Result<Authorization> read = parse_authorization(input);
    if (!read) return read.error().line().find('\n') == std::string::npos ? nullptr : "a message spans lines";
    base::Result<Authorization> again = parse_authorization(read->text());
    if (!again) return "what is written can't be read";
    if (again->text() != read->text()) return "it is written in another way the second time";
    const std::string query = canonical_query(input);
    if (canonical_query(query) != query) return "a canonical query changes";
    for (char letter : canonical_path(input, false)) {
        if (letter <= ' ' || letter > '~') return "a canonical path has a raw byte";
    }
    return nullptr;
}

}  // namespace network::exchange
