// SPDX-License-Identifier: MIT
// Writes the gateway's lines to the session's record (audit/line.h): connections and their targets, never
// their contents.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "audit/writer.h"
#include "base/file.h"
#include "rules/engine.h"

namespace network::gateway {

struct Entry {
    std::string_view kind;      // "lookup", "connection", "datagrams", "publish"
    std::string_view protocol;  // "tls", "http", "ssh", "dns", "tcp", "udp", "socks5", "connect"
    std::string name;           // as it was judged; untrusted
    std::string address;        // dialled, or requested if there was no name
    uint16_t port = 0;
    bool is_allowed = false;
    bool is_observed = false;  // allowed although the rules refuse it
    std::string_view cause;    // to_text(Cause), or "protocol", "unreachable", "limit", "policy change"
    std::string rule;
    std::string origin;
    std::string reason;
    std::string change;     // Verdict::change
    uint64_t sent = 0;      // by the jail
    uint64_t received = 0;  // by the jail
    std::chrono::milliseconds duration{0};
};

// An entry filled from a verdict.
Entry entry_of(const Verdict& verdict);

// A question to the user, or the answer to it.
struct QuestionEntry {
    uint64_t id = 0;
    std::string name;
    uint16_t port = 0;
    bool is_allowed = false;  // only for an answer, as the reason
    std::string reason;
};

class Journal {
  public:
    // With a writer without a file nothing is written; refusals are still counted.
    explicit Journal(audit::Writer writer) : writer_(std::move(writer)) {}

    // Connections that were made are always written. A jail can cause ten thousand refusals and lookups to
    // push its own actions out of the record. So these are limited: first kBurst, then kPerSecond. The number
    // of omitted lines is written when there is room again, and by finish().
    static constexpr double kBurst = 5000, kPerSecond = 20;
    void record(const Entry& entry);
    void finish();
    void record_ask(const QuestionEntry& question);
    void record_answer(const QuestionEntry& answer);

    // Called once for each part of the record that reaches its maximum size.
    void when_full(std::function<void()> act) { when_full_ = std::move(act); }
    void go_on(base::Fd next_part);

    // For the end of the session: refusals by name or address and port, with their count. The first
    // `kMostRefusals` different ones.
    static constexpr size_t kMostRefusals = 64;
    struct Refusals {
        uint64_t total = 0;
        std::map<std::string, uint64_t> by_target;  // "pastebin.com:443"
    };
    const Refusals& refusals() const { return refusals_; }
    audit::Head head() const { return writer_.head(); }

  private:
    void count_refusal(const Entry& entry);
    void write(audit::Line line);
    bool has_room();
    void tell_left_out();

    audit::Writer writer_;
    std::function<void()> when_full_;
    bool was_said_full_ = false;
    double room_ = kBurst;
    std::chrono::steady_clock::time_point filled_ = std::chrono::steady_clock::now();
    uint64_t left_out_ = 0;
    Refusals refusals_;
};

}  // namespace network::gateway
