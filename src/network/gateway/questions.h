// SPDX-License-Identifier: MIT
// Hosts that the user is asked about (network.ask). Whoever wants to connect to one is held: not answered,
// nothing dialled, nothing looked up. All who want the same port of the same name wait for one answer, which
// is one of
//
//   rules that decide about it   whether they open or close it, everyone is judged again by them
//   the user's "no"              for the rest of the session, with the reason
//   none within the time         refused; the next try asks again
//
// Who leaves takes its place in the queue with it, and a question that nobody waits for is asked no more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "network/gateway/journal.h"
#include "network/gateway/loop.h"
#include "network/rules/egress.h"

namespace network::gateway {

class Questions {
  public:
    // A jail can ask for any name: neither the user's list nor the gateway's descriptors may fill up.
    static constexpr size_t kMost = 64;
    static constexpr size_t kMostHeld = 1024;

    using Ticket = uint64_t;  // 0 is none
    // A verdict that refuses; or nothing: there are rules about it now. Called once, not from hold().
    using Done = std::function<void(const std::optional<Verdict>& refusal)>;

    Questions(Loop& loop, const Engine& engine, const Egress& egress, Journal& journal)
        : loop_(loop), engine_(engine), egress_(egress), journal_(journal) {}
    ~Questions();
    Questions(const Questions&) = delete;
    Questions& operator=(const Questions&) = delete;

    // What the user said about it already.
    std::optional<Verdict> denial_of(const HostName& name, uint16_t port) const;
    // Why nobody more can be held for it: the denial, or that there is no place left.
    std::optional<Verdict> obstacle_to(const HostName& name, uint16_t port) const;
    // Only where there is no obstacle.
    Ticket hold(const HostName& name, uint16_t port, Done done);
    // The callback will not be called. Sets the ticket to 0.
    void cancel(Ticket& ticket);

    // An answer to a question that is no longer there says nothing.
    void deny(uint64_t id, std::string_view reason);
    // The rules are new.
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
        Loop::Clock::time_point since;
        Loop::TimerId timer = 0;
        std::map<Ticket, Done> waiting;
    };
    void expire(uint64_t id);
    void answer(uint64_t id, bool is_allowed, const std::string& reason,
                const std::optional<Verdict>& refusal);
    Verdict refused(const HostName& name, std::string reason, std::string advice) const;

    Loop& loop_;
    const Engine& engine_;
    const Egress& egress_;
    Journal& journal_;
    uint64_t last_id_ = 0;
    Ticket last_ticket_ = 0;
    std::map<uint64_t, Question> questions_;  // by id
    std::map<Key, uint64_t> by_target_;       // the id of each
    std::map<Ticket, uint64_t> held_;         // whom each waits for
    std::map<Key, std::string> denied_;       // with the user's reason
};

}  // namespace network::gateway
