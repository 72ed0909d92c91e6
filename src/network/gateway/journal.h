// SPDX-License-Identifier: MIT
// The session's record of the network: one JSON object per line, written outside the jail. Text that came
// from the jail or from a server is escaped; nothing that was sent is ever in it, only where it went.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/file.h"
#include "network/rules/engine.h"

namespace network::gateway {

struct Entry {
    std::string_view kind;      // "lookup", "connection", "datagrams", "publish"
    std::string_view protocol;  // "tls", "http", "ssh", "dns", "tcp", "udp", "socks5", "connect"
    std::string name;           // as it was judged; untrusted
    std::string address;        // dialled, or asked for where there was no name
    uint16_t port = 0;
    bool is_allowed = false;
    std::string_view cause;  // to_text(Cause), or "protocol", "unreachable", "limit"
    std::string rule;
    std::string origin;
    std::string reason;
    uint64_t sent = 0;      // by the jail
    uint64_t received = 0;  // by the jail
    std::chrono::milliseconds duration{0};
};

// An entry filled with what a verdict says.
Entry entry_of(const Verdict& verdict);

class Journal {
  public:
    // No descriptor: nothing is written, refusals are still counted.
    explicit Journal(base::Fd file, uint64_t most_bytes = 64u << 20)
        : file_(std::move(file)), left_(most_bytes) {}

    // A line in one write, so that lines of several writers never mix. When the file has reached its size, a
    // last line says so, and refusals are only counted from then on.
    void record(const Entry& entry);

    // For the end of the session: what was refused, by name or address and port, with how often; the first
    // `kMostRefusals` different ones.
    static constexpr size_t kMostRefusals = 64;
    struct Refusals {
        uint64_t total = 0;
        std::map<std::string, uint64_t> by_target;  // "pastebin.com:443"
    };
    const Refusals& refusals() const { return refusals_; }

  private:
    void count_refusal(const Entry& entry);
    void write(const std::string& line);

    base::Fd file_;
    uint64_t left_;
    Refusals refusals_;
};

}  // namespace network::gateway
