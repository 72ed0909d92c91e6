// SPDX-License-Identifier: MIT
// A tunnel through the site's proxy: CONNECT on a connection to it, until it agrees.
#pragma once

#include <functional>
#include <string>

#include "network/gateway/loop.h"
#include "network/gateway/stream.h"
#include "network/rules/services.h"
#include "network/wire/http_response.h"

namespace network::gateway {

class UpstreamTunnel : public Watcher {
  public:
    static constexpr std::chrono::milliseconds kPatience{30'000};  // the proxy dials the host meanwhile

    struct Result {
        Stream stream;       // none: the proxy refused
        std::string early;   // what the server said already
        int status = 0;      // of the proxy; 0 where it did not answer
        std::string reason;  // of a failure
    };
    // Called once, now or later. The tunnel is to be buried in it, not destroyed.
    using Done = std::function<void(Result)>;

    // `authority` is "name:port".
    UpstreamTunnel(Loop& loop, Stream proxy, const UpstreamProxy& upstream, const std::string& authority,
                   Done done);
    ~UpstreamTunnel() override;
    void start();
    void on_ready(uint32_t events, int which) override;

  private:
    void send();
    void receive();
    void finish(Result result);

    Loop& loop_;
    Stream proxy_;
    std::string unsent_;
    std::string received_;
    wire::HttpResponseReader reader_;
    Done done_;
    bool is_finished_ = false;
    Loop::TimerId timer_ = 0;
};

}  // namespace network::gateway
