// SPDX-License-Identifier: MIT
// Playbooks of exchanges: a session with its credentials and rules, a request in any pieces, and the result
// as one text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "network/exchange/answer.h"
#include "network/exchange/exchange.h"

namespace network::exchange {

inline const std::string kPlaceholder = "ghp_Placeholder0123456789abcdefghijklmn";
inline const std::string kOtherPlaceholder = "sk-other-placeholder-0123456789";
inline const std::string kValue = "ghp_RealValue/0123456789+abcdef==xyz";

inline base::SecretValue secret(std::string text) {
    auto value = base::SecretValue::make(std::move(text));
    EXPECT_TRUE(value.ok());
    return *std::move(value);
}

inline std::string text_of(const base::SecretValue& value) {
    return value.reveal([](std::string_view bytes) { return std::string(bytes); });
}

struct Session {
    std::vector<Binding> bindings;
    requests::RequestSettings settings;
    Place place{.host = "api.example.org", .expected_host = "api.example.org"};

    Session& with(std::string put, std::string host = "api.example.org") {
        auto puts = parse_puts(put);
        EXPECT_TRUE(puts.ok()) << (puts.ok() ? "" : puts.error().line());
        Binding binding{.name = bindings.empty() ? "github" : "other",
                        .hosts = {*requests::parse_host_pattern(host)},
                        .puts = *puts,
                        .placeholder = bindings.empty() ? kPlaceholder : kOtherPlaceholder};
        bindings.push_back(std::move(binding));
        return *this;
    }
    Session& always() {
        bindings.back().adds_always = true;
        return *this;
    }
    Session& within(std::string path) {
        bindings.back().paths.push_back(*parse_bound_path(path));
        return *this;
    }
    Session& allow(std::string entry) {
        settings.allow.push_back({std::move(entry), config::from_flag("--allow-request")});
        return *this;
    }
    Session& block(std::string entry) {
        settings.block.push_back({std::move(entry), config::from_flag("--block-request")});
        return *this;
    }
    Session& ask(std::string entry) {
        settings.ask.push_back({std::move(entry), config::from_flag("--ask-request")});
        return *this;
    }
    Session& git(std::string entry) {
        settings.git.push_back({std::move(entry), config::from_flag("--git")});
        return *this;
    }
};

struct Result {
    std::string stage;  // "refused CODE: reason" or the name of the stage
    std::string sent;   // what the server gets
    std::string left;   // bytes of the next request
    std::string answer;
    std::string path;
};

// Gives the bytes in pieces of this size, approves questions, and writes the head with the value.
inline Result run(const Session& session, std::string_view input, size_t piece = SIZE_MAX,
                  const std::string& with_value = kValue) {
    auto rules = requests::RequestRules::make(session.settings);
    EXPECT_TRUE(rules.ok()) << (rules.ok() ? "" : rules.error().line());
    std::vector<std::string> placeholders;
    for (const Binding& binding : session.bindings) placeholders.emplace_back(binding.mark());
    PlaceholderFinder finder(placeholders);
    Context context{session.place, &*rules, session.bindings, finder};
    Exchange exchange(context);
    Result result;
    base::SecretValue value = secret(with_value);
    std::vector<const base::SecretValue*> values(session.bindings.size(), &value);
    auto act = [&] {
        while (exchange.stage() == Exchange::Stage::ask) exchange.approve();
        if (exchange.stage() != Exchange::Stage::ready) return;
        std::string body;
        result.sent += text_of(exchange.write_head(values, body));
        result.sent += body;
    };
    size_t at = 0;
    while (at < input.size()) {
        std::string_view bytes = input.substr(at, piece);
        size_t used = exchange.take(bytes, result.sent);
        at += used;
        act();
        bool is_done = exchange.stage() == Exchange::Stage::complete ||
                       exchange.stage() == Exchange::Stage::refused ||
                       exchange.stage() == Exchange::Stage::upgrading;
        if (is_done || (used == 0 && exchange.stage() == Exchange::Stage::head)) break;
    }
    constexpr std::string_view kNames[] = {"head",      "ask",    "body",     "ready",  "forwarding",
                                           "upgrading", "tunnel", "complete", "refused"};
    result.stage = kNames[static_cast<int>(exchange.stage())];
    if (exchange.stage() == Exchange::Stage::refused) {
        result.stage += " " + std::string(to_text(exchange.refusal().code));
        result.answer = exchange.refusal_answer();
    }
    result.left = input.substr(at);
    if (exchange.request().head_size > 0) result.path = exchange.recorded_path();
    return result;
}

inline std::string get(std::string_view fields, std::string_view target = "/user") {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: api.example.org\r\n" + std::string(fields) +
           "\r\n";
}

// The value of a field of the head that the server gets; "absent" without it.
inline std::string field_of(const std::string& head, const std::string& name) {
    size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "absent";
    at += name.size() + 4;
    return head.substr(at, head.find("\r\n", at) - at);
}

}  // namespace network::exchange
