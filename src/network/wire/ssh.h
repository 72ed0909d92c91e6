// SPDX-License-Identifier: MIT
// A refusal spoken in SSH (RFC 4253): the server's identification and a disconnect message with the reason,
// in clear, before any key exchange. The client prints it: "Received disconnect from … : text".
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

constexpr size_t kMaximumSshText = 400;  // what OpenSSH shows of it

// Everything that has to be sent; it may go out before the client has said a word.
std::string ssh_refusal(std::string_view policy_text);

}  // namespace network::wire
