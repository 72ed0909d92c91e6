// SPDX-License-Identifier: MIT
// A refusal in SSH (RFC 4253): the server's identification and a disconnect message with the reason,
// unencrypted, before any key exchange. The client prints it: "Received disconnect from … : text".
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

constexpr size_t kMaximumSshText = 400;  // OpenSSH displays no more

// All bytes to send. They may be sent before the client's first byte.
std::string ssh_refusal(std::string_view policy_text);

}  // namespace network::wire
