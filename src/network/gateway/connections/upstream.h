// SPDX-License-Identifier: MIT
// A tunnel through the site's proxy: sends CONNECT and waits until the proxy accepts it.
#pragma once

#include <functional>
#include <string>

#include "base/process/event_loop.h"
#include "network/gateway/relay/stream.h"
#include "network/wire/http/http_response.h"
#include "rules/services.h"

namespace network::gateway {

class UpstreamTunnel : public base::Watcher {
  public:
    static constexpr std::chrono::milliseconds kPatience{30'000};  // the proxy connects to the host meanwhile

    struct Result {
        Stream stream;       // empty: the proxy refused
        std::string early;   // the server's bytes so far
        int status = 0;      // the proxy's; 0 if it did not answer
        std::string reason;  // of a failure
    };
    // Called once, now or later. The callback must bury the tunnel (EventLoop::bury), not destroy it.
    using Done = std::function<void(Result)>;

    // `authority` is "name:port".
    UpstreamTunnel(base::EventLoop& loop, Stream proxy, const UpstreamProxy& upstream,
                   const std::string& authority, Done done);
    ~UpstreamTunnel() override;
    void start();
    void on_ready(uint32_t events, int which) override;

  private:
    void send();
    void receive();
    void finish(Result result);

    base::EventLoop& loop_;
    Stream proxy_;
    std::string unsent_;
    std::string received_;
    wire::HttpResponseReader reader_;
    Done done_;
    bool is_finished_ = false;
    base::EventLoop::TimerId timer_ = 0;
};

}  // namespace network::gateway
