// SPDX-License-Identifier: MIT
#include "network/gateway/connections/proxy_frontend.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <variant>

#include "network/wire/http/http_exchange.h"
#include "rules/address.h"

namespace network::gateway {
namespace {

constexpr char kSocksVersion = 5;
constexpr uint16_t kHttpPort = 80;
constexpr std::string_view kWhy = "/why/";

std::string host_text(const wire::Socks5Request& request) {
    if (const auto* name = std::get_if<std::string>(&request.host)) return *name;
    if (const auto* v4 = std::get_if<wire::Ipv4>(&request.host)) return Address::from_v4(*v4).str();
    return Address::from_v6(std::get<wire::Ipv6>(request.host)).str();
}

std::string refusal(int status, std::string_view reason, bool answers_head) {
    return wire::http_refusal({.status = status, .reason = reason, .answers_head = answers_head});
}

}  // namespace

std::string_view to_text(ClientProtocol protocol) {
    switch (protocol) {
        case ClientProtocol::transparent:
            return "tcp";
        case ClientProtocol::socks5:
            return "socks5";
        case ClientProtocol::connect:
            return "connect";
        case ClientProtocol::absolute:
            return "http";
    }
    return "";
}

void ProxyFrontend::start() {
    client_.watch(*this);
}

void ProxyFrontend::on_ready(uint32_t, int) {
    if (!is_finished_) read();
}

void ProxyFrontend::read() {
    char bytes[4096];
    for (;;) {
        ssize_t count = ::recv(client_.fd(), bytes, sizeof bytes, 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count <= 0) {
            fail(ClientProtocol::connect, "the client left without a request", {});
            return;
        }
        received_.append(bytes, static_cast<size_t>(count));
        if (!look()) return;
    }
}

bool ProxyFrontend::look() {
    return received_.front() == kSocksVersion ? look_at_socks() : look_at_http();
}

bool ProxyFrontend::look_at_socks() {
    std::string reply;
    wire::Socks5Reader::State state = socks_.look(received_, reply);
    if (state == wire::Socks5Reader::State::refused) {
        return fail(ClientProtocol::socks5, socks_.fault(), std::move(reply));
    }
    // A few bytes always fit into the send buffer of a new connection.
    if (!reply.empty()) (void)::send(client_.fd(), reply.data(), reply.size(), MSG_NOSIGNAL);
    if (state == wire::Socks5Reader::State::need_more) return true;
    return ask({.protocol = ClientProtocol::socks5,
                .host = host_text(socks_.request()),
                .port = socks_.request().port,
                .rest = received_.substr(socks_.consumed())});
}

bool ProxyFrontend::look_at_http() {
    wire::HttpHeadReader::State state = http_.look(received_);
    if (state == wire::HttpHeadReader::State::need_more) return true;
    bool answers_head = received_.starts_with("HEAD ");
    if (state == wire::HttpHeadReader::State::refused) {
        return fail(ClientProtocol::absolute, http_.fault().reason,
                    refusal(http_.fault().status, http_.fault().reason, answers_head));
    }
    const wire::HttpRequest& request = http_.request();
    bool is_about_a_host = request.form == wire::HttpRequest::Form::origin &&
                           request.path.starts_with(kWhy) && (request.method == "GET" || answers_head);
    if (is_about_a_host) return tell(request.path.substr(kWhy.size()), answers_head);
    if (!request.target) {
        constexpr std::string_view kNoServer = "this is the sandbox's gateway: a proxy, not a server";
        return fail(ClientProtocol::absolute, kNoServer, refusal(400, kNoServer, answers_head));
    }
    bool is_connect = request.form == wire::HttpRequest::Form::authority;
    return ask({.protocol = is_connect ? ClientProtocol::connect : ClientProtocol::absolute,
                .host = request.target->host,
                .port = request.target->port.value_or(kHttpPort),
                .rest = is_connect ? received_.substr(request.head_size) : received_,
                .answers_head = answers_head});
}

void ProxyFrontend::expire() {
    if (!is_finished_) fail(ClientProtocol::connect, "the request did not come in time", {});
}

bool ProxyFrontend::fail(ClientProtocol protocol, std::string_view reason, std::string last_words) {
    is_finished_ = true;
    calls_.failed(std::move(client_),
                  {.protocol = protocol, .reason = std::string(reason), .last_words = std::move(last_words)});
    return false;
}

bool ProxyFrontend::tell(const std::string& subject, bool answers_head) {
    is_finished_ = true;
    calls_.about(std::move(client_), subject, answers_head);
    return false;
}

bool ProxyFrontend::ask(ProxyRequest request) {
    is_finished_ = true;
    calls_.asked(std::move(client_), std::move(request));
    return false;
}

}  // namespace network::gateway
