// SPDX-License-Identifier: MIT
// Refuses a connection in the client's own protocol. A program that understands it reports the policy instead
// of retrying.
//
// Mail clients and ssh wait for the server, so they get the refusal at once. Others get it within
// milliseconds after their first bytes: HTTP with a JSON body, TLS with an alert; an unknown protocol is
// reset. A client that sends nothing is reset after seconds: on a busy machine much time passes between its
// connect(2) and its first send(2), and an earlier reset would hide the reason. After the refusal the client
// gets some time to read: closing a socket with unread bytes resets it, and the client would lose the
// refusal.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/process/event_loop.h"
#include "network/gateway/relay/relay.h"
#include "network/wire/refusals.h"
#include "network/wire/tls.h"
#include "rules/engine.h"

namespace network::gateway {

// One or two sentences: the target, the rule and its origin, that this is policy and not a fault, and the
// remedy.
std::string refusal_text(const Verdict& verdict, std::string_view target);
// The same for bytes that a client sent within a connection.
std::string refusal_text(std::string_view reason, std::string_view target);

// For the client's first bytes, since the connection was refused.
inline constexpr std::chrono::milliseconds kFirstBytes{3'000};
// The same for a client whose open connection a new rule closes. It may send only much later, and the rule
// counts at once.
inline constexpr std::chrono::milliseconds kFirstBytesOfOpen{30};

struct RefusalWords {
    std::string text;
    std::string rule;
    int http_status = 403;
    wire::TlsAlert alert = wire::TlsAlert::access_denied;
    std::chrono::milliseconds patience = kFirstBytes;
};

class Refusal : public base::Watcher {
  public:
    // Called once, from the loop's deferred calls.
    using Done = std::function<void()>;

    // In the protocol of the port, or in the one that the client uses.
    Refusal(base::EventLoop& loop, Stream client, RefusalWords words, uint16_t port, Done done);
    // With a known text. Empty: a reset.
    Refusal(base::EventLoop& loop, Stream client, const std::string& last_words, Done done);
    ~Refusal() override;

    void on_ready(uint32_t events, int which) override;

  private:
    void listen();
    void hear(std::string_view bytes);
    void hear_first(std::string_view bytes);
    void say(std::string_view bytes);
    void say_last(std::string_view bytes);
    void reset();
    void finish();

    base::EventLoop& loop_;
    Stream client_;
    RefusalWords words_;
    Done done_;
    std::optional<wire::SmtpRefusal> smtp_;
    std::string first_;  // the client's bytes so far
    std::string unsent_;
    size_t drained_ = 0;
    bool is_last_said_ = false;
    bool has_ended_writing_ = false;
    bool is_finished_ = false;
    base::EventLoop::TimerId timer_ = 0;
    std::shared_ptr<char> token_;
};

}  // namespace network::gateway
