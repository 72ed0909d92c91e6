// SPDX-License-Identifier: MIT
// Changes of the network's rules while a session runs. A change never edits the rules that are in force. The
// whole policy is made again from the current files, the options of this run and all live changes, so that
// the administrator's ceiling, locks and checks apply as they do at a start. If that fails, the old rules
// stay.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/writer.h"
#include "base/file.h"
#include "base/result.h"
#include "rules/egress.h"
#include "session/control/control.h"
#include "session/helpers/gateway.h"

namespace session {

struct LiveRule {
    bool is_allowed = true;
    std::string target;  // as in network.allow or network.block
};

struct Replanned {
    network::Egress egress;            // only its rules and DNS types can change
    std::string policy;                // its digest
    std::vector<std::string> restart;  // settings that have changed and take effect at the next start
};

// Makes the policy again. Called in a forked process.
using Replan = std::function<base::Result<Replanned>(const std::vector<LiveRule>&)>;

class LiveRules {
  public:
    // `policy` is the digest of the session's policy.
    LiveRules(Replan replan, std::string policy, Control& control, Gateway& gateway, audit::Writer& record)
        : replan_(std::move(replan)),
          policy_(std::move(policy)),
          control_(control),
          gateway_(gateway),
          record_(record) {}
    ~LiveRules();
    LiveRules(const LiveRules&) = delete;
    LiveRules& operator=(const LiveRules&) = delete;

    struct Changed {
        uint64_t closed = 0;  // connections
        std::vector<std::string> restart;
    };
    using OnDone = std::function<void(base::Result<Changed>)>;
    void add(LiveRule rule, OnDone on_done);
    void reload(OnDone on_done);

    const std::vector<LiveRule>& rules() const { return rules_; }
    const std::string& policy() const { return policy_; }

  private:
    struct Change {
        std::string action;  // "allow", "block", "reload"
        LiveRule rule;
        OnDone on_done;
    };
    void enqueue(Change change);
    void begin();
    void hear_planner();
    void apply(base::Result<Replanned> replanned);
    void finish(const base::Result<Changed>& changed);
    std::vector<LiveRule> wanted() const;

    Replan replan_;
    std::string policy_;
    Control& control_;
    Gateway& gateway_;
    audit::Writer& record_;
    std::vector<LiveRule> rules_;
    std::deque<Change> changes_;  // the first one is in progress
    pid_t planner_ = -1;
    base::Fd answer_;
    std::string received_;
};

}  // namespace session
