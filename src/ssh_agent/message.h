// SPDX-License-Identifier: MIT
// The messages of the agent protocol (draft-ietf-sshm-ssh-agent) that the filter reads, and what is signed
// with them. A message is its bytes without the length before it. Everything here is untrusted: a parser
// returns nothing unless every field is there and no byte is left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/wire/bytes.h"

namespace ssh_agent {

inline constexpr size_t kLongestMessage = 256u << 10;  // as in OpenSSH

enum class Kind : uint8_t {
    failure = 5,
    success = 6,
    request_identities = 11,
    identities_answer = 12,
    sign_request = 13,
    sign_response = 14,
    extension = 27,
};

inline std::string_view string_of(network::wire::Cursor& cursor) {
    return cursor.take(cursor.u32());
}
void append_string(std::string& bytes, std::string_view text);
// With the length before it.
std::string framed(std::string_view message);
inline bool is_of(std::string_view message, Kind kind) {
    return !message.empty() && static_cast<uint8_t>(message.front()) == static_cast<uint8_t>(kind);
}
std::string failure();
std::string success();

struct SignRequest {
    std::string_view key, data;
    uint32_t flags = 0;
};
std::optional<SignRequest> parse_sign_request(std::string_view message);

// session-bind@openssh.com (PROTOCOL.agent of OpenSSH).
struct Bind {
    std::string_view host_key, session, signature;
    bool is_forwarding = false;
};
bool is_bind(std::string_view message);
std::optional<Bind> parse_bind(std::string_view message);

// What a client signs to log in (RFC 4252, section 7), with "publickey" or
// "publickey-hostbound-v00@openssh.com".
struct Authentication {
    std::string_view session, user, algorithm, key;
    std::optional<std::string_view> host_key;  // of the host-bound method
};
std::optional<Authentication> parse_authentication(std::string_view data);

// What `ssh-keygen -Y sign` signs (PROTOCOL.sshsig): the namespace.
bool is_file_signature(std::string_view data);
std::optional<std::string_view> parse_file_signature(std::string_view data);

// The blobs of an answer of the user's agent.
std::optional<std::vector<std::string_view>> parse_identities(std::string_view message);
std::string identities(const std::vector<std::string_view>& keys);  // with blank comments
bool is_sign_response(std::string_view message);

}  // namespace ssh_agent
