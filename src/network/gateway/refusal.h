// SPDX-License-Identifier: MIT
// How a client is told that it gets no connection, in the words of the protocol that it speaks, within
// milliseconds: a program that understands reports the policy instead of trying again.
//
// Mail and ssh wait for the server, so they are told at once. Others are told when they have spoken: HTTP
// with a JSON body, TLS with an alert. Who says nothing for a moment, or something unknown, is reset. After
// the last word the client is given a moment to read: a close with bytes unread would take the word back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "network/gateway/loop.h"
#include "network/gateway/stream.h"
#include "network/rules/engine.h"
#include "network/wire/client_hello.h"
#include "network/wire/smtp.h"

namespace network::gateway {

// One sentence or two: what was refused, by which rule and where it is written, that it is policy and no
// fault, what can be done.
std::string refusal_text(const Verdict& verdict, std::string_view target);
// The same for what a client said within a connection.
std::string refusal_text(std::string_view reason, std::string_view target);

struct RefusalWords {
    std::string text;
    std::string rule;
    int http_status = 403;
    wire::TlsAlert alert = wire::TlsAlert::access_denied;
};

class Refusal : public Watcher {
  public:
    // Called once, from the loop's deferred acts.
    using Done = std::function<void()>;

    // In the words of the port's protocol, or of the one that the client speaks.
    Refusal(Loop& loop, Stream client, RefusalWords words, uint16_t port, Done done);
    // The words are known. Empty: a reset.
    Refusal(Loop& loop, Stream client, const std::string& last_words, Done done);
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

    Loop& loop_;
    Stream client_;
    RefusalWords words_;
    Done done_;
    std::optional<wire::SmtpRefusal> smtp_;
    std::string first_;  // what the client said so far
    std::string unsent_;
    size_t drained_ = 0;
    bool is_last_said_ = false;
    bool has_ended_writing_ = false;
    bool is_finished_ = false;
    Loop::TimerId timer_ = 0;
    std::shared_ptr<char> token_;
};

}  // namespace network::gateway
