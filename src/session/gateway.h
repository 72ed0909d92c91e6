// SPDX-License-Identifier: MIT
// The network's gateway as the supervisor sees it: a process beside the jail that is started while the jail
// is built, says when it serves, and ends with the session. It is a fork of this one, so that it needs no
// program and no settings file; what it must not know it forgets (see start).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "network/gateway/messages.h"
#include "network/rules/egress.h"

namespace session {

class Gateway {
  public:
    Gateway() = default;
    ~Gateway();
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // Where the jail's traffic comes from.
    struct Source {
        base::Fd information;  // Launched::information: a network namespace that is to be set up
        base::Fd listeners;    // or one that the jail sets up itself: what it hands out
        base::Fd handed;       // or connections that the jail's doorman hands over one by one
    };
    // The session's record as the gateway writes to it (audit/writer.h).
    struct Record {
        base::Fd file;  // opened for appending, the gateway's own; none: nothing is recorded
        bool is_chained = false;
        std::string seed;        // of the chain
        uint64_t part_size = 0;  // 0: one part of any size
    };
    base::Status start(const network::Egress& egress, Source source, Record record);
    pid_t process() const { return process_; }  // -1: there is none

    // Readable when there is news; -1 where there is none to come.
    int events() const { return is_asked_ ? -1 : control_.get(); }
    // journal_full: the part of the record has reached its size; the next one is pass_journal's.
    enum class News { none, serves, failed, lost, journal_full };
    News take();
    // After `failed`: why.
    const std::string& failure() const { return failure_; }

    // Each call's answer comes by take(), or is an error
    // where the gateway ends without one, or could not be asked; that one may come at once.
    using OnReply = std::function<void(base::Result<std::string>)>;
    // New rules in the place of all others. The reply is the number of connections that they closed; an
    // error: the rules are as they were.
    void send_rules(const network::Egress& egress, OnReply on_reply);
    // The reply is a JSON object: connections, connection_count, pending, refused.
    void ask_state(OnReply on_reply);
    // The answer "no" to a question of `pending`, for the rest of the session.
    void deny(uint64_t id, std::string_view reason);
    void pass_journal(base::Fd part);

    // The command has ended: the gateway is asked for its last word, which it thinks about while the jail is
    // taken apart. Nothing that is left in there is served any more.
    void ask_to_end();
    // That word, if the gateway is still there to say it. The jail is dead.
    network::gateway::Summary finish();
    bool was_lost() const { return was_lost_; }

  private:
    void pass_files() const;
    struct Request {
        OnReply on_reply;
        base::Fd answer;  // of a state: what the gateway writes to
    };
    void request(network::gateway::Order::Kind kind, base::Fd file, Request request);
    void hear_reply(const network::gateway::Reply& reply);
    void fail_requests();
    void end();

    pid_t process_ = -1;
    base::Fd control_;
    bool is_serving_ = false;
    bool is_asked_ = false;
    bool was_lost_ = false;
    std::string failure_;
    uint64_t last_ticket_ = 0;
    std::map<uint64_t, Request> requests_;
};

}  // namespace session
