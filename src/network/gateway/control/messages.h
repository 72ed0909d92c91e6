// SPDX-License-Identifier: MIT
// What the gateway reports: its lines in the record of the session (audit/writer.h), and its messages to and
// from the supervisor, over a socket that preserves message boundaries.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "audit/writer.h"
#include "base/file.h"
#include "network/netns/set_up.h"
#include "rules/engine.h"

namespace network::gateway {

// Writes the gateway's lines to the session's record (audit/writer.h): connections and their targets, never
// their contents.

// Limits the record to one line per second and subject, so that a program that retries cannot fill it. Pure.

class OncePerSecond {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr size_t kMost = 4096;

    bool admits(const std::string& subject, Time now) {
        auto found = last_.find(subject);
        if (found != last_.end() && now - found->second < std::chrono::seconds(1)) return false;
        if (found == last_.end() && last_.size() >= kMost) make_room(now);
        last_[subject] = now;
        return true;
    }

  private:
    void make_room(Time now) {
        std::erase_if(last_,
                      [&](const auto& entry) { return now - entry.second >= std::chrono::seconds(1); });
        // Too many different subjects within a second: write some lines twice rather than omit any.
        if (last_.size() >= kMost) last_.clear();
    }
    std::unordered_map<std::string, Time> last_;
};

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
    uint64_t requests = 0;  // that have no line of their own
    std::chrono::milliseconds duration{0};
};

// An entry filled from a verdict.
Entry entry_of(const Verdict& verdict);

// A request whose head was read. Header fields, bodies and queries are never in it.
struct RequestEntry {
    std::string name;
    uint16_t port = 0;
    std::string method, path;
    bool is_allowed = false;
    bool is_observed = false;
    bool is_finding = false;  // a placeholder was on its way to another host
    int status = 0;           // of the answer
    std::string_view code;    // of a refusal
    std::string rule, origin, reason, change;
    std::string credential;  // the names of those that were put in
    uint64_t sent = 0, received = 0;
    std::chrono::milliseconds duration{0};
};

// A question to the user, or the answer to it.
struct QuestionEntry {
    uint64_t id = 0;
    std::string name;
    uint16_t port = 0;
    std::string method, path, detail, credential;  // of a request; otherwise empty
    bool is_allowed = false;                       // only for an answer, as the reason
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
    // False: a permitted request that is only counted, on the line of its connection. The first kBurst
    // permitted requests are written, then kPerSecond; refused ones as in record().
    bool record_request(const RequestEntry& entry);
    // Whether record_request() would only count a permitted request now.
    bool leaves_out_requests() const;
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
    // How many lines may be written now: a jail must not push its own actions out of the record.
    struct Room {
        double left = kBurst;
        std::chrono::steady_clock::time_point filled = std::chrono::steady_clock::now();
        bool has_room() const;
        bool take();
    };
    void count_refusal(const Entry& entry);
    void write(audit::Line line);
    void tell_left_out();

    audit::Writer writer_;
    std::function<void()> when_full_;
    bool was_said_full_ = false;
    Room room_, request_room_;
    uint64_t left_out_ = 0;
    Refusals refusals_;
};

// The messages between the gateway and its supervisor, over a socket that preserves message boundaries. Both
// ends are ours.
//
//   supervisor                                    gateway
//                                                 serves … | failed TEXT       once, first
//   rules TICKET   + the rules (rules/rules_text.h)  rules TICKET ok CLOSED | rules TICKET failed TEXT
//   state TICKET   + a memory file                state TICKET ok              when it is written
//   socket TICKET                                 socket TICKET ok             + a socket of the jail's
//   network publish TICKET PORTS  + listener [+ connector]  publish TICKET ok unpublish TICKET PORT unpublish
//   TICKET ok deny ID REASON journal        + the next part of the record  journal?                     when
//   the last one is full files          + hosts, resolv.conf           files?                       when
//   names fail to resolve end                                           refused …                    once,
//   last value NUMBER    + a sealed memory file          value? NUMBER                when a request needs it

// The gateway's first message: it serves, or why it does not. The jail waits for it.
struct Start {
    std::string failure;  // empty: it serves
    netns::Capture capture = netns::Capture::tproxy;
    bool has_landlock = false;
};

// The gateway's last message, requested when the jail has ended: the refusals, the most frequent first.
struct Summary {
    uint64_t refused = 0;
    std::vector<std::pair<std::string, uint64_t>> targets;  // "pastebin.com:443"; not all if there are many
    uint64_t lines = 0;                                     // number of the gateway's lines in the record
    std::string hash;  // of the last line in its chain; empty: there is no chain
};

// From the supervisor.
struct Order {
    enum class Kind {
        end,      // the jail has ended: send the summary and exit
        files,    // with two descriptors: /etc/hosts, /etc/resolv.conf
        rules,    // with one; in a session that reads requests with their rules and, for further names, an
                  // intermediate certificate
        state,    // with one
        deny,     // the user's answer to a question
        journal,  // with one
        socket,
        publish,  // with the listener, and the connector if the gateway has none yet
        unpublish,
        value,        // of a credential, with one: a sealed memory file; without: why it is missing
        forget,       // one value, or all: a source has changed
        approve,      // the user's answer to a question about a request
        certificate,  // with one: an intermediate certificate and its key
        program,      // the answer to a ProgramRequest
    };
    Kind kind = Kind::end;
    uint64_t number = 0;  // the ticket; of `deny` and `approve`: the question's id; of `value`: the
                          // credential; of `forget`: one more than the credential, 0 for all
    // Of `approve`: kOnce, or nothing. Of `deny` and of a value that there is not; of `publish` and
    // `unpublish`: the ports, "8080:80"; of a value: its lifetime in seconds, 0 for the session; of a
    // program: its name, empty if it was not found.
    std::string reason;
};

inline constexpr std::string_view kOnce = "once";

// To an order with a ticket.
struct Reply {
    uint64_t ticket = 0;
    std::string text;     // of rules: how many connections they closed
    std::string failure;  // if not empty: nothing was done, for this reason
};

// Other messages from the gateway.
inline constexpr std::string_view kAskForFiles = "files?";              // the host's files may have changed
inline constexpr std::string_view kAskForJournal = "journal?";          // requests the next part
inline constexpr std::string_view kAskForCertificate = "certificate?";  // the intermediate is about to end

// A line for the user, while the session runs.
struct Notice {
    std::string text;
};

std::string encode(Notice notice);
std::optional<Notice> decode_notice(std::string_view message);

// The gateway needs the value of a credential.
struct ValueRequest {
    uint64_t number = 0;  // in the order of the plan
    // For a refresh: the source stays locked until tokens are issued, or the refresh is over without any.
    bool locks = false;
};

// A refresh ended. With new tokens the process that stores them ends the lock.
struct RefreshOver {
    uint64_t number = 0;
    bool has_tokens = false;
};

std::string encode(RefreshOver over);
std::optional<RefreshOver> decode_refresh_over(std::string_view message);

// A token endpoint gave new values, with one descriptor: a pipe with lines "NUMBER VALUE".
struct TokensIssued {
    uint64_t expires_in = 0;  // seconds; 0: not known
    std::string scope;
    bool is_login = false;  // not the answer to a refresh
};

std::string encode(TokensIssued issued);
std::optional<TokensIssued> decode_tokens_issued(std::string_view message);

std::string encode(ValueRequest request);
std::optional<ValueRequest> decode_value_request(std::string_view message);

// Which program of the jail has the TCP socket with this local port? Only for messages to the user.
struct ProgramRequest {
    uint64_t number = 0;  // the ticket of the answer
    uint16_t port = 0;
};

std::string encode(ProgramRequest request);
std::optional<ProgramRequest> decode_program_request(std::string_view message);

std::string encode(Start start);
std::optional<Start> decode_start(std::string_view message);

std::string encode(Order order);
std::optional<Order> decode_order(std::string_view message);

std::string encode(Reply reply);
std::optional<Reply> decode_reply(std::string_view message);

Summary summary_of(const Journal::Refusals& refusals, const audit::Head& head);
std::string encode(Summary summary);
std::optional<Summary> decode_summary(std::string_view message);

}  // namespace network::gateway
