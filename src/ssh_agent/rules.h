// SPDX-License-Identifier: MIT
// What the filter of the user's ssh-agent permits, as data: keys, hosts with their known host keys,
// namespaces. The plan makes it. Also the text forms that settings and files of ssh have.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ssh_agent {

inline constexpr uint16_t kSshPort = 22;
inline constexpr size_t kMostKeys = 64, kMostHosts = 256;

// A public key of the user.
struct Key {
    std::string blob;         // RFC 4253, section 6.6
    std::string fingerprint;  // "SHA256:…"
};

// "git@github.com": this user at this host.
struct Host {
    std::string user, name;
    uint16_t port = kSshPort;
    std::vector<std::string> keys;  // blobs of its known host keys

    std::string text() const;  // as in ssh.hosts
};

enum class Unbound { refuse, ask };

struct Rules {
    std::string agent;  // the path of the user's own agent; empty: the jail gets no socket
    std::vector<Key> keys;
    std::vector<Host> hosts;
    std::vector<std::string> sign;  // namespaces of SSHSIG
    bool asks = false;
    Unbound unbound = Unbound::refuse;
    std::chrono::seconds ask_time{120};
};

// The name of a host as ssh writes it in known_hosts: "host", or "[host]:port" for another port.
std::string known_name(std::string_view host, uint16_t port);
// "USER@HOST", "USER@HOST:PORT", "USER@[ADDRESS]:PORT".
base::Result<Host> parse_host(std::string_view text);
// The first line of a .pub file: "KIND BASE64 COMMENT".
base::Result<Key> parse_public_key(std::string_view text);
std::string fingerprint_of(std::string_view blob);
// The type that the blob itself names: "ssh-ed25519"; empty: it names none.
std::string_view type_of(std::string_view blob);

// The keys of one host in the text of a known_hosts file, also where its name is hashed. Lines with a pattern
// or a negation are skipped, and so are certificate authorities: OpenSSH binds to the key of a certificate,
// which the file does not have. A key that is revoked for any host is left out.
std::vector<std::string> known_keys(std::string_view known_hosts, const Host& host);
// The lines of known_hosts for these keys.
std::string known_lines(const Host& host);

}  // namespace ssh_agent
