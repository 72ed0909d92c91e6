// SPDX-License-Identifier: MIT
// A refusal spoken in SMTP (RFC 5321), so that a mailer reports the policy at once instead of trying again:
// 554 as greeting, 554 to every command, 221 to QUIT.
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

constexpr size_t kMaximumSmtpLine = 512;
constexpr size_t kMaximumSmtpCommands = 16;
constexpr size_t kMaximumSmtpText = 1024;

class SmtpRefusal {
  public:
    enum class State { open, close };

    // The text is made fit for the protocol: ASCII, no line ends, cut at kMaximumSmtpText, several lines if
    // long.
    explicit SmtpRefusal(std::string_view policy_text);

    // To be sent first, before a byte arrives; it is also the answer to every command.
    const std::string& greeting() const { return greeting_; }

    // `received` is what came since the last call, in any pieces. Answers are appended to `reply`; after
    // close they are sent and the connection ends.
    State take(std::string_view received, std::string& reply);

  private:
    void answer(std::string& reply);

    State state_ = State::open;
    std::string greeting_;
    std::string line_;  // what came of the current one, at most its first bytes
    size_t line_size_ = 0;
    size_t commands_ = 0;
};

}  // namespace network::wire
