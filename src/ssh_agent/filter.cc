// SPDX-License-Identifier: MIT
#include "ssh_agent/filter.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "ssh_agent/host_signature.h"
#include "ssh_agent/message.h"

namespace ssh_agent {
namespace {

constexpr size_t kShownName = 64;
constexpr uint32_t kRsaSha256 = 2, kRsaSha512 = 4;  // SSH_AGENT_RSA_SHA2_…

std::string shown(std::string_view untrusted) {
    return base::printable(untrusted.substr(0, kShownName));
}

Decision refused(std::string reason, std::string change = {}) {
    return {.action = Decision::Action::answer,
            .message = failure(),
            .use = {},
            .reason = std::move(reason),
            .change = std::move(change)};
}

// A signature with SHA-1 (ssh-rsa) is refused: every client that binds its connection can do better.
bool is_algorithm_of(std::string_view algorithm, std::string_view type, uint32_t flags) {
    if (!type.starts_with("ssh-rsa")) return algorithm == type && flags == 0;
    std::string_view end = type.substr(std::string_view("ssh-rsa").size());
    if (!algorithm.ends_with(end)) return false;
    algorithm.remove_suffix(end.size());
    return (algorithm == "rsa-sha2-256" && flags == kRsaSha256) ||
           (algorithm == "rsa-sha2-512" && flags == kRsaSha512);
}

}  // namespace

const Key* Filter::key_of(std::string_view blob) const {
    auto found = std::ranges::find(rules_.keys, blob, &Key::blob);
    return found == rules_.keys.end() ? nullptr : &*found;
}

Decision Filter::judge(std::string_view message) {
    if (message.size() == 1 && is_of(message, Kind::request_identities))
        return {.action = Decision::Action::forward,
                .message = std::string(message),
                .expected = Expected::identities,
                .use = {}};
    if (is_of(message, Kind::sign_request)) return judge_signature(message);
    if (is_bind(message)) return judge_bind(message);
    // Clients ask for extensions to find out what the agent supports.
    if (is_of(message, Kind::extension)) return refused({});
    return refused(
        "a change of the agent was refused: the jail may list keys and ask for signatures, nothing else");
}

Decision Filter::judge_bind(std::string_view message) {
    std::optional<Bind> bind = parse_bind(message);
    if (!bind) return refused("a damaged session-bind was refused");
    // Threat: after a refusal alone ssh still forwards the agent, and the server lists the keys
    // (tests/egress/ssh_agent.bats).
    if (bind->is_forwarding) {
        Decision decision = refused(
            "the agent was not forwarded: a server could use it like the jail (ssh -A, ForwardAgent)");
        decision.action = Decision::Action::close;
        return decision;
    }
    bool is_repeated = state_ == State::bound && bind->host_key == host_key_ && bind->session == session_;
    if (state_ != State::unbound && !is_repeated) {
        state_ = State::bound_elsewhere;
        return refused("a second session on one connection to the agent was refused");
    }
    state_ = State::bound_elsewhere;
    auto has_key = [&](const Host& host) { return std::ranges::count(host.keys, bind->host_key) > 0; };
    if (std::ranges::none_of(rules_.hosts, has_key))
        return refused(
            base::format("the host key {} is not of a host of ssh.hosts", fingerprint_of(bind->host_key)),
            "ssh.hosts = [\"USER@HOST\"]");
    if (!is_signed_by(bind->host_key, bind->session, bind->signature))
        return refused("a session-bind with a wrong signature of the host was refused");
    state_ = State::bound;
    host_key_ = bind->host_key;
    session_ = bind->session;
    return {.action = Decision::Action::forward,
            .message = std::string(message),
            .expected = Expected::bind,
            .use = {}};
}

Decision Filter::judge_signature(std::string_view message) const {
    std::optional<SignRequest> request = parse_sign_request(message);
    if (!request) return refused("a damaged request for a signature was refused");
    const Key* key = key_of(request->key);
    if (key == nullptr)
        return refused(base::format("a signature with {} was refused: the key is not in ssh.keys",
                                    fingerprint_of(request->key)),
                       "ssh.keys = [\"~/.ssh/NAME.pub\"]");
    return is_file_signature(request->data) ? judge_file(message, *key, request->data)
                                            : judge_login(message, *key, request->data);
}

Decision Filter::judge_login(std::string_view message, const Key& key, std::string_view data) const {
    std::optional<Authentication> wanted = parse_authentication(data);
    std::optional<SignRequest> request = parse_sign_request(message);
    if (!wanted || wanted->key != key.blob ||
        !is_algorithm_of(wanted->algorithm, type_of(key.blob), request->flags))
        return refused("a signature over something else than a login was refused");
    switch (state_) {
        case State::unbound:
            return judge_unbound_login(message, key, wanted->user);
        case State::bound_elsewhere:
            return refused("a login at a host that is not verified was refused",
                           "ssh.hosts = [\"USER@HOST\"]");
        case State::bound:
            break;
    }
    if (wanted->session != session_ || (wanted->host_key && *wanted->host_key != host_key_))
        return refused("a login of another session than the one of the connection was refused");
    const Host* known = nullptr;
    for (const Host& host : rules_.hosts) {
        if (std::ranges::count(host.keys, host_key_) == 0) continue;
        known = &host;
        if (host.user == wanted->user)
            return permitted(message, {.host = &host, .target = host.text(), .key = key.fingerprint});
    }
    Host other = known == nullptr ? Host{} : *known;
    other.user = shown(wanted->user);
    // The client chose the name: only a usual one becomes a line that the user may copy.
    const std::string text = other.text();
    return refused(base::format("a login as {} was refused: ssh.hosts names another user there", text),
                   parse_host(text) ? base::format("ssh.hosts = [\"{}\"]", text) : std::string());
}

// The signature would be valid at any host to which the client is connected.
Decision Filter::judge_unbound_login(std::string_view message, const Key& key, std::string_view user) const {
    bool is_named = std::ranges::count(rules_.hosts, user, &Host::user) > 0;
    if (rules_.unbound == Unbound::refuse || !is_named)
        return refused(
            "a login was refused: the client does not tell the agent which host it has reached (it needs "
            "OpenSSH 8.9 or later)",
            "ssh.unbound = \"ask\"");
    Decision decision = permitted(message, {.host = nullptr,
                                            .target = shown(user) + " at a host that is not known",
                                            .key = key.fingerprint,
                                            .is_each_asked = true});
    decision.action = Decision::Action::ask;
    return decision;
}

Decision Filter::judge_file(std::string_view message, const Key& key, std::string_view data) const {
    std::optional<std::string_view> name = parse_file_signature(data);
    if (!name) return refused("a damaged signature of a file was refused");
    if (std::ranges::count(rules_.sign, *name) == 0)
        return refused(base::format("a signature of a file in the namespace {} was refused", shown(*name)),
                       std::ranges::all_of(*name, base::is_name_character)
                           ? base::format("ssh.sign = [\"{}\"]", *name)
                           : std::string());
    return permitted(
        message,
        {.host = nullptr, .target = "files of the namespace " + shown(*name), .key = key.fingerprint});
}

Decision Filter::permitted(std::string_view message, Use use) const {
    return {.action = rules_.asks ? Decision::Action::ask : Decision::Action::forward,
            .message = std::string(message),
            .expected = Expected::signature,
            .use = std::move(use)};
}

std::string Filter::answer(Expected expected, std::optional<std::string_view> message) const {
    switch (expected) {
        case Expected::bind:
            // An agent without the extension fails here. The filter itself has verified the bind.
            return success();
        case Expected::signature:
            return message && is_sign_response(*message) ? std::string(*message) : failure();
        case Expected::identities: {
            std::optional<std::vector<std::string_view>> keys =
                message ? parse_identities(*message) : std::nullopt;
            if (!keys) return failure();
            std::erase_if(*keys, [this](std::string_view key) { return key_of(key) == nullptr; });
            return identities(*keys);
        }
    }
    return failure();
}

}  // namespace ssh_agent
