// SPDX-License-Identifier: MIT
// The requests of a user to a running session, and changes of the network's rules while it runs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/writer.h"
#include "base/file.h"
#include "base/result.h"
#include "plan/plan.h"
#include "rules/egress.h"
#include "session/asks/asks.h"
#include "session/asks/questions.h"
#include "session/control/control.h"
#include "session/control/published_ports.h"
#include "session/control/session_directory.h"
#include "session/helpers/certificates.h"
#include "session/helpers/gateway.h"
#include "session/helpers/ssh_agent.h"
#include "session/limits/watch.h"

namespace session {

// Changes of the network's rules while a session runs. A change never edits the rules that are in force. The
// whole policy is made again from the current files, the options of this run and all live changes, so that
// the administrator's ceiling, locks and checks apply as they do at a start. If that fails, the old rules
// stay.

struct LiveRule {
    enum class Kind { allow, block, publish };
    Kind kind = Kind::allow;
    // As in network.allow, network.block or network.publish, or an entry of requests.allow, requests.block or
    // requests.git.
    std::string target;
};
std::string_view to_text(LiveRule::Kind kind);  // "allow"
// "POST api.example.org/v1/**", "push example.org/me/app refs/heads/agent/*", "@github-read": an entry about
// requests, not about hosts.
bool is_about_requests(const LiveRule& rule);

struct Replanned {
    network::Egress egress;            // only its rules, DNS types and published ports can change
    std::string policy;                // its digest
    std::vector<std::string> restart;  // settings that have changed and take effect at the next start
    std::string note;                  // for the user: a further effect of the change
    // Of a session that reads requests.
    struct Requests {
        std::string settings;            // network/requests/settings_text.h
        std::vector<std::string> names;  // that certificates are needed for, sorted
    };
    std::optional<Requests> requests;
};

// Makes the policy again. Called in a forked process.
using Replan = std::function<base::Result<Replanned>(const std::vector<LiveRule>&)>;

class LiveRules {
  public:
    // The certificates of the session at its start.
    struct Names {
        std::vector<std::string> names;
        std::shared_ptr<CertificateMaker> maker;  // null: no connection is decrypted
    };
    // `policy` is the digest of the session's policy.
    LiveRules(Replan replan, std::string policy, Control& control, Gateway& gateway, PublishedPorts& ports,
              audit::Writer& record, Names certificates)
        : replan_(std::move(replan)),
          policy_(std::move(policy)),
          control_(control),
          gateway_(gateway),
          ports_(ports),
          record_(record),
          certificates_(std::move(certificates)) {}
    ~LiveRules();
    LiveRules(const LiveRules&) = delete;
    LiveRules& operator=(const LiveRules&) = delete;

    struct Changed {
        uint64_t closed = 0;  // connections
        std::vector<std::string> restart;
        std::string note = {};
    };
    using OnDone = std::function<void(base::Result<Changed>)>;
    void add(LiveRule rule, OnDone on_done);
    void reload(OnDone on_done);
    // Closes a published port, also one that was published at the start.
    void unpublish(uint16_t host_port, OnDone on_done);

    // An intermediate for the present names, before the last one ends. At most one in kBetweenCertificates.
    static constexpr std::chrono::minutes kBetweenCertificates{10};
    void renew_certificate();

    const std::vector<LiveRule>& rules() const { return rules_; }
    const std::string& policy() const { return policy_; }

  private:
    struct Change {
        std::string action;  // "allow", "block", "publish", "reload", "unpublish"
        LiveRule rule;
        OnDone on_done;
    };
    void enqueue(Change change);
    void begin();
    void hear_planner();
    void hear_maker();
    void apply(base::Result<Replanned> replanned);
    void open_port(const Replanned& replanned);
    void send_rules(const Replanned& replanned, base::Fd intermediate = {});
    void certify(const Replanned& replanned);
    void issue(const std::vector<std::string>& names, CertificateMaker::OnIntermediate on_intermediate);
    void finish(const base::Result<Changed>& changed);
    std::vector<LiveRule> wanted() const;

    Replan replan_;
    std::string policy_;
    Control& control_;
    Gateway& gateway_;
    PublishedPorts& ports_;
    audit::Writer& record_;
    std::vector<LiveRule> rules_;
    std::deque<Change> changes_;  // the first one is in progress
    pid_t planner_ = -1;
    base::Fd answer_;
    std::string received_;
    Names certificates_;
    bool is_watching_maker_ = false;
    std::chrono::steady_clock::time_point next_certificate_;
};

// The requests of a user to a running session, as handlers of its control socket: show its state, end it,
// change a rule, answer a question.

class Steering {
  public:
    struct Parts {
        const plan::Plan& plan;
        const SessionDirectory& directory;
        Gateway& gateway;
        SshAgent& ssh_agent;
        LiveRules& live;
        Asks& asks;
        std::function<std::optional<Meter>()> meter;  // nothing: the jail can't be measured, or not yet
        std::function<base::Json()> commands;         // that `exec` added
        std::function<void(bool at_once)> stop;
    };
    // Handles requests from now on.
    Steering(Control& control, Parts parts);
    Steering(const Steering&) = delete;
    Steering& operator=(const Steering&) = delete;

  private:
    using Reply = Control::Reply;
    void tell_status(const Reply& reply);
    void stop(const base::Json& request, const Reply& reply);
    void change(LiveRule::Kind kind, const base::Json& request, const Reply& reply);
    void reload(const Reply& reply);
    void forget_value(const base::Json& request, const Reply& reply);
    void publish(const base::Json& request, const Reply& reply);
    base::Json limits() const;

    Parts parts_;
    Questions questions_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace session
