// SPDX-License-Identifier: MIT
// Theory of operation. One filter for each connection to the agent's socket in the jail. It reads each
// message of the client and decides; it has no socket.
//
//   message of the client       what happens
//   -------------------------   ---------------------------------------------------------------------------
//   list of keys                the user's agent is asked; the answer has only keys of ssh.keys, and no
//                               comments
//   session-bind                the host's signature is verified; the connection is bound to this host key
//                               and session; the user's agent gets it too, for keys with constraints
//   session-bind, forwarding    a failure, and the connection ends
//   signature of a login        if the connection is bound to a host of ssh.hosts, and session, user, key and
//                               host key are those of the request
//   signature of a file         if its namespace is in ssh.sign
//   everything else             a failure
//
// Threat: a process in the jail gets a signature that opens another host, another session or another
// account. Tests: tests/ssh_agent/filter_test.cc, tests/egress/ssh_agent.bats.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ssh_agent/rules.h"

namespace ssh_agent {

// What the user's agent must answer.
enum class Expected { identities, signature, bind };

// What a signature is for: for the record, and for the question to the user.
struct Use {
    const Host* host = nullptr;  // null: not known, or a file is signed
    std::string target;          // "git@github.com", "files of the namespace git"
    std::string key;             // fingerprint
    bool is_each_asked = false;  // an approval counts for one signature
};

struct Decision {
    enum class Action { answer, forward, ask, close };
    Action action = Action::answer;
    std::string message;  // to the client, or to the user's agent
    Expected expected = Expected::identities;
    Use use;             // of a signature
    std::string reason;  // of a refusal, for the user; empty: nothing to report
    std::string change;  // the setting that would permit it
};

class Filter {
  public:
    // The rules must outlive it.
    explicit Filter(const Rules& rules) : rules_(rules) {}

    // The message must be one complete message.
    Decision judge(std::string_view message);
    // What the client gets for the answer of the user's agent; nothing: the agent is not there.
    std::string answer(Expected expected, std::optional<std::string_view> message) const;

  private:
    enum class State { unbound, bound, bound_elsewhere };
    Decision judge_bind(std::string_view message);
    Decision judge_signature(std::string_view message) const;
    Decision judge_login(std::string_view message, const Key& key, std::string_view data) const;
    Decision judge_unbound_login(std::string_view message, const Key& key, std::string_view user) const;
    Decision judge_file(std::string_view message, const Key& key, std::string_view data) const;
    Decision permitted(std::string_view message, Use use) const;
    const Key* key_of(std::string_view blob) const;

    const Rules& rules_;
    State state_ = State::unbound;
    std::string host_key_, session_;
};

}  // namespace ssh_agent
