// SPDX-License-Identifier: MIT
// Properties of request rules, pushes and GraphQL for any bytes. The unit tests check them with the seeds,
// the fuzzer with its mutations of the seeds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "network/requests/lfs.h"
#include "network/requests/rules.h"

namespace network::requests {

inline const char* broken_for_path(std::string_view target) {
    CanonicalPath path;
    std::string_view fault = read_target(target, path);
    if (!fault.empty()) return nullptr;
    std::string whole =
        path.query.data() ? std::string(path.path) + "?" + std::string(path.query) : std::string(path.path);
    if (whole != target) return "path and query are not the target";
    for (const std::string& segment : path.segments) {
        if (segment.empty() || segment == "." || segment == "..") return "a segment is empty or dots";
        if (segment.find_first_of(std::string_view("/\\\0\r\n", 5)) != std::string::npos)
            return "a segment holds a separator";
    }
    for (const std::vector<std::string>& reading : path.readings) {
        for (const std::string& segment : reading) {
            if (segment.empty() || segment == "." || segment == "..") return "a reading is not canonical";
        }
    }
    return nullptr;
}

// "ENTRY\nMETHOD\nTARGET"
inline const char* broken_for_rules(std::string_view text) {
    std::vector<std::string_view> lines = base::split(text, '\n');
    lines.resize(3);
    if (const char* broken = broken_for_path(lines[2])) return broken;
    for (Side side : {Side::allow, Side::ask, Side::block}) {
        auto rule = parse_request_rule(lines[0], side);
        if (!rule) {
            if (rule.error().line().find('\n') != std::string::npos) return "a message spans lines";
            continue;
        }
        std::vector<config::Item> items = {{std::string(lines[0]), config::from_flag("--x")}};
        std::vector<config::Item> none;
        auto rules = RequestRules::make({.allow = side == Side::allow ? items : none,
                                         .ask = side == Side::ask ? items : none,
                                         .block = side == Side::block ? items : none});
        if (!rules) return "a rule is read once and not twice";
        if (!rules->names(rule->host.is_wildcard ? "x." + rule->host.name : rule->host.name,
                          rule->host.port.value_or(443))) {
            return "a rule does not name its host";
        }
        std::string host = rule->host.is_wildcard ? "x." + rule->host.name : rule->host.name;
        Verdict verdict = rules->judge(
            {.host = host, .port = rule->host.port.value_or(443), .method = lines[1], .target = lines[2]});
        CanonicalPath path;
        if (!read_target(lines[2], path).empty() && verdict.decision != Decision::refused)
            return "a path that is not canonical passes";
        if (verdict.decision == Decision::refused && verdict.reason.empty()) return "a refusal has no reason";
        bool has_matched = rule->matches(lines[1], path) && rule->kind == Kind::http;
        if (has_matched && side == Side::block && verdict.decision != Decision::refused)
            return "a block that matches does not refuse";
        if (!has_matched && side == Side::allow && verdict.is_permitted())
            return "an allow that does not match permits";
    }
    (void)parse_git_rule(lines[0]);
    return nullptr;
}

inline const char* broken_for_push(std::string_view body) {
    PushReader whole, bytewise;
    PushReader::State state = whole.look(body);
    PushReader::State other = PushReader::State::need_more;
    for (size_t size = 1; size <= body.size() && other == PushReader::State::need_more; ++size)
        other = bytewise.look(body.substr(0, size));
    if (state != other) return "the result depends on the pieces";
    if (whole.commands().size() > kMaximumCommands) return "a push has too many commands";
    if (state != PushReader::State::complete) return nullptr;
    for (const PushCommand& command : whole.commands()) {
        if (!command.ref.starts_with("refs/")) return "a ref is not below refs/";
        if (base::printable(command.ref).find('\n') != std::string::npos) return "a ref spans lines";
    }
    std::vector<std::string> reasons(whole.commands().size(), "x");
    std::string answer = push_refusal(whole, reasons).body;
    for (size_t at = 0; at < answer.size();) {
        size_t length = std::stoul(answer.substr(at, 4), nullptr, 16);
        at += length == 0 ? 4 : length;
        if (at > answer.size()) return "an answer is not whole packets";
    }
    return nullptr;
}

inline const char* broken_for_lfs(std::string_view text) {
    bool is_upload = false;
    if (!read_lfs_batch(text, is_upload).empty()) return nullptr;
    return text.find("pload") == std::string_view::npos && text.find('\\') == std::string_view::npos &&
                   is_upload
               ? "an upload without the word"
               : nullptr;
}

inline const char* broken_for_graphql(std::string_view text) {
    if (const char* broken = broken_for_lfs(text)) return broken;
    std::vector<RootField> fields;
    for (bool is_body : {true, false}) {
        std::string_view fault = is_body ? read_graphql(text, fields) : read_graphql_document(text, fields);
        if (!fault.empty()) continue;
        if (fields.empty()) return "a request without a root field passes";
        for (const RootField& field : fields) {
            if (field.name.empty() || text.size() < field.name.size()) return "a field has no name";
        }
        // The same document with a mutation behind it must show the mutation.
        std::string longer = std::string(text) + "\nmutation { hidden }";
        if (is_body) continue;
        if (longer.size() > kMaximumGraphql) return nullptr;
        if (!read_graphql_document(longer, fields).empty()) return nullptr;
        bool is_seen = std::ranges::any_of(fields, [](const RootField& field) {
            return field.operation == Operation::mutation && field.name == "hidden";
        });
        if (!is_seen) return "a mutation is hidden behind the document";
    }
    return nullptr;
}

}  // namespace network::requests
