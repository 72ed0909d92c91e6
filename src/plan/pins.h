// SPDX-License-Identifier: MIT
// Additions by the user (mounts.*), and the step that makes every rule survive a rename.
#pragma once

#include "host/tree.h"
#include "plan/draft.h"

namespace plan {

// The step that makes every rule survive a rename, and the symbolic links that lead to a rule.

// Records the links that were followed to the path of a restricting rule. The jail must not be able to
// replace them: the next session would apply the rule to another path.
void keep_links(Draft& draft, const host::Tree::Resolved& resolved, const Reason& reason);

// Whether the jail can rename, remove and create entries of this directory on the host; rules need not be
// settled.
bool is_in_jails_hand(const Draft& draft, const base::Path& directory);

// A directory of the caller whose mode keeps the caller out. The jail can change the mode back, so everything
// in it must be covered together with it.
bool is_shut(const Draft& draft, const base::Path& directory);

}  // namespace plan
