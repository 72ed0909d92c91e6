// SPDX-License-Identifier: MIT
// The network's gateway as the supervisor sees it: a process beside the jail. The supervisor starts it while
// the jail is built. It reports when it serves, and ends with the session. It is a fork of this process, so
// it needs no program and no settings file; start() drops the environment and descriptors that it must not
// have.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "network/gateway/control/messages.h"
#include "rules/egress.h"

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
        base::Fd listeners;    // or of one that the jail sets up itself: it sends its listeners here
        base::Fd handed;       // or connections that the jail's doorman passes one by one
    };
    // The session's record as the gateway writes to it (audit/writer.h).
    struct Record {
        base::Fd file;  // opened for appending, not shared; not set: nothing is recorded
        bool is_chained = false;
        std::string seed;        // of the chain
        uint64_t part_size = 0;  // 0: one part of any size
    };
    base::Status start(const network::Egress& egress, Source source, Record record);
    pid_t process() const { return process_; }  // -1: not running

    // Readable when there is news; -1: no news will come.
    int events() const { return is_asked_ ? -1 : control_.get(); }
    // journal_full: the part of the record has reached its size; pass_journal() sends the next one.
    enum class News { none, serves, failed, lost, journal_full };
    News take();
    // After `failed`: why.
    const std::string& failure() const { return failure_; }

    // The answer to each call comes by take(). It is an error if the gateway ends first or can't be asked;
    // that error may come within the call.
    using OnReply = std::function<void(base::Result<std::string>)>;
    // Replaces all rules. The reply is the number of connections that the new rules closed. On an error the
    // old rules stay.
    void send_rules(const network::Egress& egress, OnReply on_reply);
    // The reply is a JSON object: connections, connection_count, pending, refused.
    void ask_state(OnReply on_reply);
    // Answers "no" to a question of `pending`, for the rest of the session.
    void deny(uint64_t id, std::string_view reason);
    void pass_journal(base::Fd part);

    // The command has ended: asks the gateway for its summary, which it prepares while the jail is removed.
    // The gateway no longer serves processes that are left in the jail.
    void ask_to_end();
    // Returns that summary, if the gateway still runs. The jail is dead.
    network::gateway::Summary finish();
    bool was_lost() const { return was_lost_; }

  private:
    void pass_files() const;
    struct PendingReply {
        OnReply on_reply;
        base::Fd answer;  // for ask_state: the gateway writes to this file
    };
    void request(network::gateway::Order::Kind kind, base::Fd file, PendingReply pending);
    void hear_reply(const network::gateway::Reply& reply);
    void fail_pending();
    void end();

    pid_t process_ = -1;
    base::Fd control_;
    bool is_serving_ = false;
    bool is_asked_ = false;
    bool was_lost_ = false;
    std::string failure_;
    uint64_t last_ticket_ = 0;
    std::map<uint64_t, PendingReply> pending_;
};

}  // namespace session
