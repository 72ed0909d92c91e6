// SPDX-License-Identifier: MIT
// Properties of the gateway for any first bytes of a client and any content of the host's files. Each
// function returns the claim that its input breaks, or null. The unit tests check them with the seeds, the
// fuzzer with its mutations of the seeds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "network/gateway/connections/client_filter.h"
#include "network/gateway/names/resolver_query.h"
#include "network/wire/http/http_head.h"

namespace network::gateway {

inline constexpr std::string_view kExpected = "good.test";

struct Passage {
    Guard::State state = Guard::State::judging;
    std::string onward;
    std::string_view protocol;
    bool was_asked = false;  // the server replied in between
};

inline bool contains(std::string_view text, std::string_view word) {
    auto is_same = [](char one, char other) { return (one | 0x20) == (other | 0x20); };
    return std::ranges::search(text, word, is_same).begin() != text.end();
}

inline constexpr uint16_t kWebPort = 80, kOtherPort = 7777;

// The server's reply that makes the guard forward most of the bytes that it holds back: the server accepts
// every websocket and TLS within PostgreSQL's protocol, and requests a second ClientHello.
inline std::string_view answer_to(std::string_view protocol, bool is_git) {
    constexpr std::string_view kRetry(
        "\x16\x03\x03\0\x26\x02\0\0\x22\x03\x03"
        "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
        "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
        43);
    if (protocol == "http") return "HTTP/1.1 101 Switching Protocols\r\n\r\n";
    if (protocol == "tls") return kRetry;
    return is_git ? "0008" : "S";
}

// Gives the bytes to a guard in pieces of this size.
inline Passage pass(std::string_view bytes, size_t piece, uint16_t port) {
    static const Engine engine = *Engine::make({});
    Guard guard(Expectation{.engine = engine, .host = *HostName::parse(kExpected), .port = port},
                HttpStream::Requests::many);
    Passage passage;
    std::string_view bytes_of_all = bytes;
    while (!bytes.empty() && guard.state() != Guard::State::refused) {
        std::string_view next = bytes.substr(0, piece);
        bytes.remove_prefix(next.size());
        if (guard.state() == Guard::State::passed) {
            passage.onward += next;
            continue;
        }
        guard.take(next, passage.onward);
        while (guard.state() == Guard::State::waiting_for_reply) {
            passage.was_asked = true;
            guard.take_reply(answer_to(guard.protocol(), contains(bytes_of_all, "git-")), passage.onward);
        }
    }
    if (guard.state() == Guard::State::judging) guard.take_end(passage.onward);
    passage.state = guard.state();
    passage.protocol = guard.protocol();
    return passage;
}

// Whether a field that names a host, read as a careless server reads it, names another host.
inline bool names_another_host(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (line.size() >= 5 && contains(line.substr(0, 5), "host:") && !contains(line, kExpected))
            return true;
    }
    return false;
}

// The guard may forward the beginning of a line before it recognizes the protocol, with bytes that servers
// skip before the line, but nothing after the end of the line.
inline bool is_a_beginning(std::string_view text) {
    auto is_printable = [](char letter) { return letter > ' ' && letter < 0x7f; };
    auto start = static_cast<size_t>(std::ranges::find_if(text, is_printable) - text.begin());
    return text.find('\n', start) == std::string_view::npos;
}

// Whether one of several consecutive hellos is for another host. Within PostgreSQL's protocol a hello may
// lack a name.
inline bool has_another_hello(std::string_view text, bool may_lack_name) {
    while (!text.empty()) {
        wire::ClientHelloReader reader;
        if (reader.look(text) != wire::ClientHelloReader::State::complete) return false;
        const std::optional<std::string>& said = reader.hello().server_name;
        base::Result<HostName> name = HostName::parse(said.value_or(""));
        if (said ? !name || name->str() != kExpected : !may_lack_name) return true;
        text.remove_prefix(reader.size());
    }
    return false;
}

inline const char* broken_on_port(std::string_view bytes, uint16_t port) {
    Passage whole = pass(bytes, std::max<size_t>(bytes.size(), 1), port);
    // wire's own properties check rewritten requests. The guard forwards all other bytes unchanged or not at
    // all.
    bool is_rewritten = contains(bytes, "://") || contains(bytes, "upgrade");
    if (!is_rewritten && !bytes.starts_with(whole.onward)) return "what goes on is not what came";
    bool is_refused = whole.state == Guard::State::refused;
    wire::Protocol opening = wire::guess_protocol(bytes);
    bool is_asked_for_tls = opening == wire::Protocol::postgres;
    bool is_git = opening == wire::Protocol::git;
    if (is_refused && whole.protocol == "tcp" && !is_asked_for_tls && !is_git &&
        !is_a_beginning(whole.onward))
        return "something of what is refused goes on";
    if (whole.protocol == "tls" && !is_asked_for_tls) {
        bool is_passed = whole.state == Guard::State::passed;
        wire::ClientHelloReader reader;
        if (is_passed && reader.look(whole.onward) != wire::ClientHelloReader::State::complete)
            return "TLS without a hello goes on";
        if (has_another_hello(whole.onward, false)) return "a hello for another host goes on";
    }
    if (whole.protocol == "tls" && is_asked_for_tls && whole.onward.size() > 8 &&
        has_another_hello(std::string_view(whole.onward).substr(8), true))
        return "a hello for another host goes on within another protocol";
    bool has_body = contains(bytes, "content-length") || contains(bytes, "transfer-encoding");
    bool is_judged = whole.protocol == "http" && whole.state != Guard::State::passed && !whole.was_asked;
    if (is_judged && !has_body && !is_a_beginning(whole.onward) && names_another_host(whole.onward))
        return "a request to another host goes on";
    bool is_unknown = whole.protocol == "tcp" && whole.state == Guard::State::passed;
    if (is_unknown && port == kWebPort && !is_asked_for_tls && !is_git && !whole.onward.empty())
        return "an unknown protocol goes on";

    // The verdict must not depend on where the bytes are cut.
    if (is_rewritten || whole.was_asked) return nullptr;
    Passage single = pass(bytes, 1, port);
    if (single.state != whole.state) return "the verdict depends on where the bytes are cut";
    bool is_same = single.onward == whole.onward ||
                   (whole.state != Guard::State::passed && single.onward.starts_with(whole.onward) &&
                    is_a_beginning(single.onward.substr(whole.onward.size())));
    if (!is_same) return "what goes on depends on where the bytes are cut";
    return nullptr;
}

inline const char* broken_for_guard(std::string_view bytes) {
    const char* broken = broken_on_port(bytes, kWebPort);
    return broken != nullptr ? broken : broken_on_port(bytes, kOtherPort);
}

inline const char* broken_for_resolver_files(std::string_view text) {
    for (const auto& [name, addresses] : parse_hosts(text)) {
        if (addresses.empty()) return "a name of the hosts file without an address";
        if (!std::ranges::is_partitioned(addresses, [](const Address& one) { return one.is_v4(); }))
            return "an IPv6 address before an IPv4 one";
    }
    ServerSettings settings = parse_resolv_conf(text);
    if (settings.servers.empty() || settings.servers.size() > ServerSettings::kMostServers)
        return "no server, or too many";
    if (settings.rounds < 1 || settings.rounds > ServerSettings::kMostRounds) return "rounds out of bounds";
    if (settings.time_per_try < std::chrono::seconds(1) ||
        settings.time_per_try > std::chrono::seconds(ServerSettings::kMostSeconds))
        return "time out of bounds";
    return nullptr;
}

}  // namespace network::gateway
