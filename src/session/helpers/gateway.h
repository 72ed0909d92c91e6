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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "network/gateway/broker/broker.h"
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
    // `broker` is set for a session with credentials or request rules.
    base::Status start(const network::Egress& egress, Source source, Record record,
                       std::optional<network::gateway::BrokerInputs> broker = std::nullopt);
    // Called when the gateway needs the value of a credential; pass_value() answers.
    void when_value_needed(std::function<void(network::gateway::ValueRequest)> act) {
        on_value_ = std::move(act);
    }
    // Called when a token endpoint gave new values, with the pipe that has them, and when a refresh ended.
    void when_tokens_issued(std::function<void(network::gateway::TokensIssued, base::Fd tokens)> act) {
        on_tokens_ = std::move(act);
    }
    void when_refresh_over(std::function<void(network::gateway::RefreshOver)> act) {
        on_refresh_over_ = std::move(act);
    }
    // A source may have changed: the next requests get the value anew, or all values.
    void forget_values(std::optional<size_t> credential = std::nullopt) const;
    void pass_value(size_t credential, const base::Result<base::Fd>& value, int64_t lifetime) const;
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
    // For a session that reads requests: their rules and, if these name further hosts, an intermediate
    // certificate (certificates.h).
    struct RequestRules {
        std::string settings;  // network/requests/settings_text.h
        base::Fd intermediate;
    };
    // Replaces all rules. The reply is the number of connections that the new rules closed. On an error the
    // old rules stay.
    void send_rules(const network::Egress& egress, std::optional<RequestRules> requests, OnReply on_reply);
    // Called when the intermediate certificate is about to end; pass_certificate() answers.
    void when_certificate_ends(std::function<void()> act) { on_certificate_end_ = std::move(act); }
    void pass_certificate(base::Fd intermediate) const;
    // Called for the name of the program that has the socket with this port in the jail.
    void when_program_wanted(std::function<std::string(uint16_t port)> find) {
        find_program_ = std::move(find);
    }
    // The reply is a JSON object: connections, connection_count, pending, refused.
    void ask_state(OnReply on_reply);
    // Answers "no" to a question of `pending`, for the rest of the session.
    void deny(uint64_t id, std::string_view reason);
    // Answers "yes" to a question about a request: for the rest of the session, or once.
    void approve(uint64_t id, bool is_once) const;
    // Leads `listener` into the jail, at the port of `published`. Starts a connector for the first such port.
    void publish(const network::Published& published, base::Fd listener, OnReply on_reply);
    void unpublish(uint16_t host_port, OnReply on_reply);
    void pass_journal(base::Fd part);

    // The command has ended: asks the gateway for its summary, which it prepares while the jail is removed.
    // The gateway no longer serves processes that are left in the jail.
    void ask_to_end();
    // Returns that summary, if the gateway still runs. The jail is dead.
    network::gateway::Summary finish();
    bool was_lost() const { return was_lost_; }

  private:
    void pass_files() const;
    void pass_program(network::gateway::ProgramRequest wanted) const;
    struct PendingReply {
        OnReply on_reply;
        base::Fd answer;  // for ask_state: the gateway writes to this file
        // For a socket of the jail's network. The reply carries it.
        std::function<void(base::Result<base::Fd>)> on_socket;
        void fail(base::Error error) const;
    };
    void request(network::gateway::Order order, const std::vector<base::Fd>& passed, PendingReply pending);
    void hear_reply(const network::gateway::Reply& reply, std::vector<base::Fd> passed);
    void pass_port(const network::Published& published, base::Fd listener, base::Fd connector,
                   OnReply on_reply);
    void fail_pending();
    void end();

    pid_t process_ = -1;
    base::Fd control_;
    bool is_serving_ = false;
    bool is_asked_ = false;
    bool was_lost_ = false;
    bool has_connector_ = false;
    std::string failure_;
    std::function<void(network::gateway::ValueRequest)> on_value_;
    std::function<void(network::gateway::TokensIssued, base::Fd)> on_tokens_;
    std::function<void(network::gateway::RefreshOver)> on_refresh_over_;
    std::function<void()> on_certificate_end_;
    std::function<std::string(uint16_t)> find_program_;
    uint64_t last_ticket_ = 0;
    std::map<uint64_t, PendingReply> pending_;
};

}  // namespace session
