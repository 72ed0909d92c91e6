// SPDX-License-Identifier: MIT
// Why ssh failed at a server: the jail shows no key, because keys, known hosts and the ssh-agent stay
// outside. ssh prints its own reason on standard error, which no other process can read without changing what
// ssh prints there and when. So the reason is found out afterwards: ssh -G names the keys and the agent that
// it would use, and ssh-keyscan connects to the server once. If no server answers, a key is not the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// What a program prints on both streams, whatever its exit status; nothing if it can't be executed or prints
// too much.
using OutputOf =
    std::function<std::optional<std::string>(const std::string& program, std::vector<std::string> words)>;

// The line, or nothing: another reason is likely, or ssh is to print nothing.
std::string ssh_explanation(const std::string& program, char** arguments, const OutputOf& output_of);

// What `ssh -G` prints about a destination, as far as the line needs it.
struct SshSettings {
    std::string host, user;
    uint16_t port = 0;
    std::vector<std::string> keys;  // files; ~ is not replaced
    std::string agent;              // a path, "SSH_AUTH_SOCK" or "none"; empty: the variable decides
    bool uses_proxy = false;        // another program connects
    bool uses_token = false;        // keys of a smart card
    bool is_quiet = false;
};
SshSettings ssh_settings_of(std::string_view printed);

// Whether ssh-keyscan has printed the greeting of an ssh server that is not the gateway's refusal.
bool has_greeting(std::string_view printed);

// The line, for tests.
std::string ssh_text(const SshSettings& settings);

}  // namespace cli
