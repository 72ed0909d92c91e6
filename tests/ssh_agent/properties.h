// SPDX-License-Identifier: MIT
// Properties of the filter for any bytes of a client or of the user's agent, and of the files of ssh.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "ssh_agent/filter.h"
#include "ssh_agent/messages.h"

namespace ssh_agent {

inline const Rules& fuzz_rules() {
    static const Rules rules = [] {
        Rules made;
        made.keys = {{bytes_of(kVectors[1].key), "SHA256:a"}};
        made.hosts = {{.user = "git", .name = "git.example", .keys = {bytes_of(kVectors[0].key)}}};
        made.sign = {"git"};
        return made;
    }();
    return rules;
}

inline const char* broken_by_signature(std::string_view message) {
    std::optional<SignRequest> request = parse_sign_request(message);
    if (!request) return "a damaged request is passed on";
    if (request->key != fuzz_rules().keys[0].blob) return "another key signs";
    if (is_file_signature(request->data))
        return parse_file_signature(request->data) == "git" ? nullptr : "another namespace is signed";
    std::optional<Authentication> login = parse_authentication(request->data);
    if (!login || login->user != "git") return "something else than a login is signed";
    return login->session == session_of_vectors() ? nullptr : "a session is signed that no host has signed";
}

// Messages with their lengths, as on the socket. Each is also taken for an answer of the user's agent.
inline const char* broken_for_filter(std::string_view input) {
    Filter filter(fuzz_rules());
    network::wire::Cursor cursor(input);
    while (cursor.left() > 0) {
        std::string_view message = string_of(cursor);
        if (cursor.has_failed() || message.empty()) break;
        Decision decision = filter.judge(message);
        const bool is_passed = decision.action == Decision::Action::forward;
        if (!is_passed && decision.message != failure()) return "a refusal is not a failure";
        if (is_passed && decision.message != message) return "another message is passed on";
        if (is_passed && decision.expected == Expected::signature)
            if (const char* broken = broken_by_signature(message)) return broken;
        if (is_passed && decision.expected == Expected::identities && message.size() != 1)
            return "a list has content";
        const std::string list = filter.answer(Expected::identities, message);
        std::optional<std::vector<std::string_view>> keys = parse_identities(list);
        if (keys && std::ranges::any_of(*keys, [](auto key) { return key != fuzz_rules().keys[0].blob; }))
            return "the list has a key that was not chosen";
    }
    return nullptr;
}

inline const char* broken_for_known_hosts(std::string_view input) {
    Host host{.user = "git", .name = "git.example", .keys = {}};
    for (const std::string& key : known_keys(input, host)) host.keys = {key};
    // What is written for the jail is read back as the same key.
    if (!host.keys.empty() && known_keys(known_lines(host), host) != host.keys) return "a key changes";
    base::Result<Key> key = parse_public_key(input);
    if (key && type_of(key->blob).empty()) return "a key without a type is accepted";
    base::Result<Host> parsed = parse_host(input);
    if (parsed && parse_host(parsed->text())->text() != parsed->text()) return "a host is not read back";
    return nullptr;
}

}  // namespace ssh_agent
