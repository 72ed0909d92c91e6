// SPDX-License-Identifier: MIT
// Refusals in protocols whose server sends first.
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

// A refusal in SMTP (RFC 5321), so that a mail program reports the policy at once instead of retrying: 554 as
// greeting, 554 to every command, 221 to QUIT.

constexpr size_t kMaximumSmtpLine = 512;
constexpr size_t kMaximumSmtpCommands = 16;
constexpr size_t kMaximumSmtpText = 1024;

class SmtpRefusal {
  public:
    enum class State { open, close };

    // Converts the text for the protocol: ASCII, no line ends, cut at kMaximumSmtpText, split into several
    // lines if long.
    explicit SmtpRefusal(std::string_view policy_text);

    // Sent before the client sends a byte. It is also the answer to every command.
    const std::string& greeting() const { return greeting_; }

    // `received` is the bytes since the last call, split anywhere. Appends answers to `reply`. After close,
    // send them and close the connection.
    State take(std::string_view received, std::string& reply);

  private:
    void answer(std::string& reply);

    State state_ = State::open;
    std::string greeting_;
    std::string line_;  // the first bytes of the current line
    size_t line_size_ = 0;
    size_t commands_ = 0;
};

// A refusal in SSH (RFC 4253): the server's identification and a disconnect message with the reason,
// unencrypted, before any key exchange. The client prints it: "Received disconnect from … : text".

constexpr size_t kMaximumSshText = 400;  // OpenSSH displays no more

// All bytes to send. They may be sent before the client's first byte.
std::string ssh_refusal(std::string_view policy_text);

}  // namespace network::wire
