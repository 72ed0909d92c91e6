// SPDX-License-Identifier: MIT
// The gateway as a proxy, for programs that ask for one: SOCKS5 or HTTP, told apart by the first byte. Reads
// one request and says what was asked for; whether it is granted is decided like everything else. A request
// to the gateway itself may ask one thing, what the rules say about a host: GET /why/HOST:PORT.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "network/gateway/loop.h"
#include "network/gateway/stream.h"
#include "network/wire/http_head.h"
#include "network/wire/socks5.h"

namespace network::gateway {

// How the client came, and so how it is answered.
enum class Face {
    transparent,  // it believes that it speaks with the server
    socks5,
    connect,
    absolute,  // an HTTP request for the proxy to make
};
std::string_view to_text(Face face);

struct ProxyRequest {
    Face face = Face::connect;
    std::string host;  // as it was written; without brackets
    uint16_t port = 0;
    std::string rest;  // what the server is to get: what followed, or the request itself
    bool answers_head = false;
};

struct ProxyFault {
    Face face = Face::connect;
    std::string reason;
    std::string last_words;  // empty: a reset
};

class ProxyFace : public Watcher {
  public:
    // One of them is called, once, now or later; the face is to be buried in it, not destroyed.
    struct Calls {
        std::function<void(Stream client, const std::string& subject, bool answers_head)> about;
        std::function<void(Stream client, ProxyRequest request)> asked;
        std::function<void(Stream client, const ProxyFault& fault)> failed;
    };

    ProxyFace(Stream client, Calls calls) : client_(std::move(client)), calls_(std::move(calls)) {}
    void start();
    void on_ready(uint32_t events, int which) override;

    // For whoever watches the time.
    bool has_begun() const { return !received_.empty(); }
    void expire();

  private:
    void read();
    bool look();  // true: more is needed
    bool look_at_socks();
    bool look_at_http();
    bool fail(Face face, std::string_view reason, std::string last_words);
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
