// SPDX-License-Identifier: MIT
// The gateway as a proxy, for programs that use one: SOCKS5 or HTTP, distinguished by the first byte. It
// reads one request and reports the target. The target is then judged like any other. One request is for the
// gateway itself: GET /why/HOST:PORT returns the rules for a host.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/process/event_loop.h"
#include "network/gateway/relay/relay.h"
#include "network/wire/http/http_head.h"
#include "network/wire/socks5.h"

namespace network::gateway {

// How the client connected, and so how it is answered.
enum class ClientProtocol {
    transparent,  // it connects as if to the server itself
    socks5,
    connect,
    absolute,  // an HTTP request for the proxy to make
};
std::string_view to_text(ClientProtocol protocol);

struct ProxyRequest {
    ClientProtocol protocol = ClientProtocol::connect;
    std::string host;  // as it was written; without brackets
    uint16_t port = 0;
    std::string rest;  // bytes for the server: those after the request, or the request itself
    bool answers_head = false;
};

struct ProxyFault {
    ClientProtocol protocol = ClientProtocol::connect;
    std::string reason;
    std::string last_words;  // empty: a reset
};

class ProxyFrontend : public base::Watcher {
  public:
    // One of them is called, once, now or later. The callback must bury this object (EventLoop::bury), not
    // destroy it.
    struct Calls {
        std::function<void(Stream client, const std::string& subject, bool answers_head)> about;
        std::function<void(Stream client, ProxyRequest request)> asked;
        std::function<void(Stream client, const ProxyFault& fault)> failed;
    };

    ProxyFrontend(Stream client, Calls calls) : client_(std::move(client)), calls_(std::move(calls)) {}
    void start();
    void on_ready(uint32_t events, int which) override;

    // For the owner, which enforces the time limits.
    bool has_begun() const { return !received_.empty(); }
    void expire();

  private:
    void read();
    bool look();  // true: more bytes are needed
    bool look_at_socks();
    bool look_at_http();
    bool fail(ClientProtocol protocol, std::string_view reason, std::string last_words);
    bool ask(ProxyRequest request);
    bool tell(const std::string& subject, bool answers_head);

    Stream client_;
    Calls calls_;
    std::string received_;
    wire::Socks5Reader socks_;
    wire::HttpHeadReader http_;
    bool is_finished_ = false;
};

}  // namespace network::gateway
