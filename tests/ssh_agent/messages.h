// SPDX-License-Identifier: MIT
// Messages as clients send them.
#pragma once

#include <string>
#include <string_view>

#include "base/encoding/base64.h"
#include "ssh_agent/message.h"
#include "ssh_agent/rules.h"
#include "ssh_agent/vectors.h"

namespace ssh_agent {

inline std::string bytes_of(std::string_view base64) {
    return base::from_base64(base64).value_or("");
}

// What the vectors are signatures of.
inline std::string session_of_vectors() {
    std::string session;
    for (char byte = 0; byte < 32; ++byte) session += byte;
    return session;
}

inline std::string text(std::string_view bytes) {
    std::string message;
    append_string(message, bytes);
    return message;
}

inline std::string bind_message(std::string_view key, std::string_view session, std::string_view signature,
                                bool is_forwarding = false) {
    return "\x1b" + text("session-bind@openssh.com") + text(key) + text(session) + text(signature) +
           std::string(1, is_forwarding ? 1 : 0);
}

inline std::string sign_message(std::string_view key, std::string_view data, uint32_t flags = 0) {
    std::string message = "\x0d" + text(key) + text(data);
    network::wire::append_u32(message, flags);
    return message;
}

struct Login {
    std::string session = session_of_vectors(), user = "git", algorithm = "ssh-ed25519", key;
    std::string service = "ssh-connection";
    std::string host_key;  // empty: the plain method
};

inline std::string login_data(const Login& login) {
    std::string data = text(login.session) + "\x32" + text(login.user) + text(login.service);
    data += text(login.host_key.empty() ? "publickey" : "publickey-hostbound-v00@openssh.com");
    data += "\x01" + text(login.algorithm) + text(login.key);
    return login.host_key.empty() ? data : data + text(login.host_key);
}

inline std::string file_data(std::string_view name) {
    return "SSHSIG" + text(name) + text("") + text("sha512") + text(std::string(64, 'h'));
}

}  // namespace ssh_agent
