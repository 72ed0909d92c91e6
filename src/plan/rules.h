// SPDX-License-Identifier: MIT
// The set of path rules while a plan is made, with one rule of precedence: the most specific path wins, and
// at equal length the stricter access. There are two exceptions for hidden paths. Below a path that the
// administrator hides, only the administrator's own rules count. Below a path that any setting hides,
// built-in grants do not count.
#pragma once

#include <optional>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace plan {

class Rules {
  public:
    void add(PathRule rule) { rules_.push_back(std::move(rule)); }

    // Sorts, drops overruled rules, and keeps one rule for each path. Refuses a grant of the user that can
    // have no effect, with both origins. Call once, before decide and the rendering.
    base::Status settle();

    // Adds rules after the others are settled. At a path that already has a rule the stricter access stays,
    // and the name is held if either rule holds it.
    void add_settled(std::vector<PathRule> more);

    // The rule that decides about `path`. Null: no rule does, and the path does not exist inside.
    const PathRule* decide(const base::Path& path) const;

    // The same while the rules are not settled yet.
    const PathRule* decide_unsettled(const base::Path& path) const;

    const std::vector<PathRule>& sorted() const { return rules_; }
    std::vector<PathRule>& sorted() { return rules_; }

  private:
    std::vector<PathRule> rules_;
};

// Whether writing below the rule changes files of the host.
inline bool is_host_writable(const PathRule* rule) {
    return rule != nullptr && rule->access == Access::writable && rule->backing == Backing::host;
}

// As Rules::decide, for rules that are sorted by path (Plan::rules).
const PathRule* deciding_rule(const std::vector<PathRule>& sorted, const base::Path& path);

// Rules in, mounts out: everything depends on the correctness of this translation. It is pure, and a property
// test (tests/plan/mounts_property_test.cc) replays the mounts in a model of the kernel and compares the view
// with the rules.

// For settled rules, in the order of mounting: parents before children. Seals of covered directories come
// after their children; the caller must add the seal of the root.
std::vector<Mount> render_rules(const Rules& rules, const host::Tree& tree);

}  // namespace plan
