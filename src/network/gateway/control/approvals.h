// SPDX-License-Identifier: MIT
// What the user is asked about: hosts (network.ask) and requests (requests.ask). A connection to such a host
// is held: it gets no answer, and the gateway neither dials nor looks up the name. A request is held after
// its head. All connections to the same port of the same name wait for one answer, and so do all requests
// with the same method and path. The answer is one of
//
//   new rules about the host     all are judged again by them
//   "yes" to a request           for the rest of the session, or for the oldest of those that wait
//   "no"                         for the rest of the session, with the reason
//   no answer within the time    refused; the next attempt asks again
//
// A connection that leaves gives up its place. A question without waiting connections is withdrawn.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/process/event_loop.h"
#include "network/gateway/control/messages.h"
#include "rules/egress.h"

namespace network::gateway {

struct AskedRequest {
    std::string key;  // the same for requests that one answer covers
    std::string method, path;
    std::string detail;         // of a body: "mutation addComment"
    std::string credential;     // names of those that would be put in
    std::string recorded_path;  // empty: paths are not recorded
};

struct AskedAbout {
    HostName name;
    uint16_t port = 0;
    std::optional<AskedRequest> request = std::nullopt;  // nothing: the host is asked about
};

class Approvals {
  public:
    // A jail can request any name. These limits protect the user's list and the gateway's descriptors.
    static constexpr size_t kMost = 64;
    static constexpr size_t kMostHeld = 1024;

    using Ticket = uint64_t;  // 0: no ticket
    // A verdict that refuses, or nothing: there are rules about the host now, or the request is approved.
    // Called once, not from hold().
    using Done = std::function<void(const std::optional<Verdict>& refusal)>;

    Approvals(base::EventLoop& loop, const Engine& engine, const Egress& egress, Journal& journal)
        : loop_(loop), engine_(engine), egress_(egress), journal_(journal) {}
    ~Approvals();
    Approvals(const Approvals&) = delete;
    Approvals& operator=(const Approvals&) = delete;

    // The user's earlier denial, if there is one.
    std::optional<Verdict> denial_of(const AskedAbout& what) const;
    // The user has approved this request for the session.
    bool is_approved(const AskedAbout& what) const { return approved_.contains(key_of(what)); }
    // Why no more connections can be held for it: the denial, or a limit is reached.
    std::optional<Verdict> obstacle_to(const AskedAbout& what) const;
    // Only if obstacle_to() returns nothing.
    Ticket hold(const AskedAbout& what, Done done);
    // The callback is then not called. Sets the ticket to 0.
    void cancel(Ticket& ticket);

    // An answer to a question that no longer exists is ignored.
    void deny(uint64_t id, std::string_view reason);
    // Only for a question about a request. `is_once`: the oldest that waits goes on, and the others are asked
    // about under a new number.
    void approve(uint64_t id, bool is_once);
    // The rules have changed.
    void judge_again();

    struct Pending {
        uint64_t id = 0;
        AskedAbout what;
        std::chrono::milliseconds age{0}, left{0};
    };
    std::vector<Pending> pending() const;
    size_t held() const { return held_.size(); }

  private:
    using Key = std::tuple<std::string, uint16_t, std::string>;
    struct Question {
        AskedAbout what;
        base::EventLoop::Clock::time_point since;
        base::EventLoop::TimerId timer = 0;
        std::map<Ticket, Done> waiting;
    };
    static Key key_of(const AskedAbout& what);
    uint64_t ask(const AskedAbout& what, std::map<Ticket, Done> waiting);
    Question take(uint64_t id, bool is_allowed, const std::string& reason);
    void expire(uint64_t id);
    void answer(uint64_t id, bool is_allowed, const std::string& reason,
                const std::optional<Verdict>& refusal);
    Verdict refused(const AskedAbout& what, std::string reason, std::string advice) const;

    base::EventLoop& loop_;
    const Engine& engine_;
    const Egress& egress_;
    Journal& journal_;
    uint64_t last_id_ = 0;
    Ticket last_ticket_ = 0;
    std::map<uint64_t, Question> questions_;  // by id
    std::map<Key, uint64_t> by_target_;       // the id of each question
    std::map<Ticket, uint64_t> held_;         // the question that each ticket waits for
    std::map<Key, std::string> denied_;       // with the user's reason
    std::set<Key> approved_;                  // requests
};

}  // namespace network::gateway
