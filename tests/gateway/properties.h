// SPDX-License-Identifier: MIT
// What must hold for whatever a client says first and whatever the host's files contain. Each function
// returns the claim that its input breaks, or null; the unit tests check them over the seeds, the fuzzer over
// what it makes of them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "network/gateway/guard.h"
#include "network/gateway/resolver_files.h"
#include "network/wire/http_head.h"

namespace network::gateway {

inline constexpr std::string_view kExpected = "good.test";

struct Passage {
    Guard::State state = Guard::State::judging;
    std::string onward;
    std::string_view protocol;
    bool was_asked = false;  // the server was heard in between
};

// Shows the bytes to a guard in pieces of this size. A server that is asked agrees to every websocket.
inline Passage pass(std::string_view bytes, size_t piece) {
    static const Engine engine = *Engine::make({});
    Guard guard(Expectation{.engine = engine, .host = *HostName::parse(kExpected), .port = 80},
                HttpStream::Requests::many);
    Passage passage;
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
            guard.take_reply("HTTP/1.1 101 Switching Protocols\r\n\r\n", passage.onward);
        }
    }
    if (guard.state() == Guard::State::judging) guard.take_end(passage.onward);
    passage.state = guard.state();
    passage.protocol = guard.protocol();
    return passage;
}

inline bool contains(std::string_view text, std::string_view word) {
    auto is_same = [](char one, char other) { return (one | 0x20) == (other | 0x20); };
    return std::ranges::search(text, word, is_same).begin() != text.end();
}

// Whether a field that names a host, read as a careless server would, names another one.
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

// The beginning of a line may go on before it is known what it is, and nothing of the line behind it.
inline bool is_a_beginning(std::string_view before, std::string_view all) {
    return all.starts_with(before) && all.find_first_of("\r\n", before.size()) == std::string_view::npos;
}

inline const char* broken_for_guard(std::string_view bytes) {
    Passage whole = pass(bytes, std::max<size_t>(bytes.size(), 1));
    // What a rewritten request is, wire's own properties say; all else goes on as it came or not at all.
    bool is_rewritten = contains(bytes, "://") || contains(bytes, "upgrade");
    if (!is_rewritten && !bytes.starts_with(whole.onward)) return "what goes on is not what came";
    bool is_refused = whole.state == Guard::State::refused;
    if (is_refused && whole.protocol != "http" && !is_a_beginning({}, whole.onward))
        return "something of what is refused goes on";
    if (whole.protocol == "tls" && whole.state == Guard::State::passed) {
        wire::ClientHelloReader reader;
        bool is_whole = reader.look(whole.onward) == wire::ClientHelloReader::State::complete;
        if (!is_whole || !reader.hello().server_name) return "a hello without a name goes on";
        auto name = HostName::parse(*reader.hello().server_name);
        if (!name || name->str() != kExpected) return "a hello for another host goes on";
    }
    bool has_body = contains(bytes, "content-length") || contains(bytes, "transfer-encoding");
    bool is_judged = whole.protocol == "http" && whole.state != Guard::State::passed && !whole.was_asked;
    if (is_judged && !has_body && names_another_host(whole.onward))
        return "a request to another host goes on";

    // Where the bytes are cut must not matter, as long as the first ones say what they are.
    bool is_plain = guess_strictly(bytes) == guess_strictly(bytes.substr(0, wire::kMaximumGuessBytes));
    if (!is_plain || is_rewritten || whole.was_asked) return nullptr;
    Passage single = pass(bytes, 1);
    if (single.state != whole.state) return "the verdict depends on where the bytes are cut";
    bool is_same = single.onward == whole.onward ||
                   (whole.state != Guard::State::passed && is_a_beginning(whole.onward, single.onward));
    if (!is_same) return "what goes on depends on where the bytes are cut";
    return nullptr;
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
