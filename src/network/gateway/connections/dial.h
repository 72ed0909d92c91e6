// SPDX-License-Identifier: MIT
// Connects to the first of several addresses that answers. All of them were judged; no name is looked up
// here. The next address is tried when one fails, and in parallel when one does not answer at once: broken
// IPv6 is common.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/process/event_loop.h"
#include "network/gateway/relay/relay.h"
#include "network/gateway/sockets.h"
#include "network/wire/http/http_exchange.h"
#include "rules/services.h"

namespace network::gateway {

// connect(2) to an endpoint: 0, or -1 and errno. Tests replace it to redirect public addresses to loopback.
using Connect = std::function<int(int socket, const Endpoint& endpoint)>;
int connect_socket(int socket, const Endpoint& endpoint);

class Dial : public base::Watcher {
  public:
    static constexpr std::chrono::milliseconds kNextBeside{250};
    static constexpr std::chrono::milliseconds kEach{5'000};
    static constexpr std::chrono::milliseconds kAll{30'000};
    static constexpr size_t kMostAddresses = 16;

    struct Result {
        Stream stream;  // empty: no address answered
        Endpoint endpoint;
        int error = 0;  // of the last attempt
    };
    // Called once, from start() or later. The callback must bury the dial (EventLoop::bury), not destroy it.
    using Done = std::function<void(Result)>;

    Dial(base::EventLoop& loop, const Connect& connect, std::vector<Endpoint> endpoints, Done done);
    ~Dial() override;
    void start();
    void on_ready(uint32_t events, int which) override;

  private:
    struct Attempt {
        Stream stream;
        Endpoint endpoint;
        base::EventLoop::Clock::time_point began;
    };
    // False: the attempt failed at once.
    bool begin(const Endpoint& endpoint);
    void begin_next();
    void tick();
    void succeed(Attempt& attempt);
    void finish(Result result);

    base::EventLoop& loop_;
    const Connect& connect_;
    std::vector<Endpoint> endpoints_;
    Done done_;
    size_t next_ = 0;
    std::vector<Attempt> attempts_;
    int error_ = 0;
    bool is_finished_ = false;
    base::EventLoop::Clock::time_point began_;
    base::EventLoop::TimerId timer_ = 0;
};

// A tunnel through the site's proxy: sends CONNECT and waits until the proxy accepts it.

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
