// SPDX-License-Identifier: MIT
// Hosts that the user is asked about (network.ask). A connection to such a host is held: it gets no answer,
// and the gateway neither dials nor looks up the name. All connections to the same port of the same name wait
// for one answer, which is one of
//
//   new rules about the host     all are judged again by them
//   the user's "no"              for the rest of the session, with the reason
//   no answer within the time    refused; the next attempt asks again
//
// A connection that leaves gives up its place. A question without waiting connections is withdrawn.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/event_loop.h"
#include "network/gateway/control/journal.h"
#include "rules/egress.h"

namespace network::gateway {

class Questions {
  public:
    // A jail can request any name. These limits protect the user's list and the gateway's descriptors.
    static constexpr size_t kMost = 64;
    static constexpr size_t kMostHeld = 1024;

    using Ticket = uint64_t;  // 0: no ticket
    // A verdict that refuses, or nothing: there are rules about the host now. Called once, not from hold().
    using Done = std::function<void(const std::optional<Verdict>& refusal)>;

    Questions(base::EventLoop& loop, const Engine& engine, const Egress& egress, Journal& journal)
        : loop_(loop), engine_(engine), egress_(egress), journal_(journal) {}
    ~Questions();
    Questions(const Questions&) = delete;
    Questions& operator=(const Questions&) = delete;

    // The user's earlier denial of this host, if there is one.
    std::optional<Verdict> denial_of(const HostName& name, uint16_t port) const;
    // Why no more connections can be held for it: the denial, or a limit is reached.
    std::optional<Verdict> obstacle_to(const HostName& name, uint16_t port) const;
    // Only if obstacle_to() returns nothing.
    Ticket hold(const HostName& name, uint16_t port, Done done);
    // The callback is then not called. Sets the ticket to 0.
    void cancel(Ticket& ticket);

    // An answer to a question that no longer exists is ignored.
    void deny(uint64_t id, std::string_view reason);
    // The rules have changed.
    void judge_again();

    struct Pending {
        uint64_t id = 0;
        std::string name;
        uint16_t port = 0;
        std::chrono::milliseconds age{0}, left{0};
    };
    std::vector<Pending> pending() const;
    size_t held() const { return held_.size(); }

  private:
    using Key = std::pair<std::string, uint16_t>;
    struct Question {
        HostName name;
        uint16_t port = 0;
        base::EventLoop::Clock::time_point since;
        base::EventLoop::TimerId timer = 0;
        std::map<Ticket, Done> waiting;
    };
    void expire(uint64_t id);
    void answer(uint64_t id, bool is_allowed, const std::string& reason,
                const std::optional<Verdict>& refusal);
    Verdict refused(const HostName& name, std::string reason, std::string advice) const;

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
};

}  // namespace network::gateway
