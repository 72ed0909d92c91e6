// SPDX-License-Identifier: MIT
// The set of path rules while a plan is made, with the one rule of precedence: the most specific path wins,
// and at equal length the stricter access. Two amendments keep a hide what its author means: below a path
// that the administrator hides, only the administrator's own rules count; below one that anybody hides,
// built-in grants don't.
#pragma once

#include <optional>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "plan/plan.h"

namespace plan {

class Rules {
  public:
    void add(PathRule rule) { rules_.push_back(std::move(rule)); }

    // Sorts, drops what lost, and keeps one rule for each path. Refuses a grant of the user's that can have
    // no effect, with both origins. Call once, before decide and the rendering.
    base::Status settle();

    // More rules when the others are settled. At a path that has a rule the stricter access stays, and the
    // name is held if either rule holds it.
    void add_settled(std::vector<PathRule> more);

    // The rule that decides about `path`; null where none does, and then it does not exist.
    const PathRule* decide(const base::Path& path) const;

    // The same while the rules are not settled yet.
    const PathRule* decide_unsettled(const base::Path& path) const;

    const std::vector<PathRule>& sorted() const { return rules_; }
    std::vector<PathRule>& sorted() { return rules_; }

  private:
    std::vector<PathRule> rules_;
};

// As Rules::decide, for rules that are sorted by path (Plan::rules).
const PathRule* deciding_rule(const std::vector<PathRule>& sorted, const base::Path& path);

}  // namespace plan
