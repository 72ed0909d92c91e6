// SPDX-License-Identifier: MIT
// DNS over TCP: length-prefixed messages, answered in the order in which the answers arrive.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/process/event_loop.h"
#include "network/gateway/names/name_server.h"
#include "network/gateway/relay/relay.h"

namespace network::gateway {

class DnsStream : public base::Watcher {
  public:
    static constexpr std::chrono::seconds kIdle{10};
    static constexpr size_t kMostOutstanding = 32;
    static constexpr size_t kMostUnsent = 64 << 10;  // for a client that sends queries and does not read

    // Called once, from the loop's deferred calls.
    using Done = std::function<void()>;

    DnsStream(base::EventLoop& loop, NameServer& name_server, Stream client, Done done);
    ~DnsStream() override;
    void on_ready(uint32_t events, int which) override;
    void sweep(base::EventLoop::Clock::time_point now);

  private:
    void read();
    void serve();
    void answer(const std::string& reply);
    void send();
    void finish();

    base::EventLoop& loop_;
    NameServer& name_server_;
    Stream client_;
    Done done_;
    std::string received_;
    std::string unsent_;
    size_t outstanding_ = 0;
    bool has_ended_ = false;
    bool is_finished_ = false;
    base::EventLoop::Clock::time_point last_heard_;
    std::shared_ptr<char> token_ = std::make_shared<char>();  // answers may outlive this object
};

}  // namespace network::gateway
