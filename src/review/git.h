// SPDX-License-Identifier: MIT
// What makes git run programs: in repositories that the session has made, in existing ones that were not
// protected, and in a plain directory that git would accept as a repository.
#pragma once

#include <vector>

#include "review/known.h"
#include "review/review.h"

namespace review {

// Decided by its content, not by its name: git started in such a directory uses it.
bool is_repository(const base::Path& directory);

void look_into_repository(const base::Path& repository, Known& known, std::vector<Finding>& findings);

// A ".git" file or symbolic link, which may lead git anywhere.
void look_at_link(const base::Path& link, const Session& session, Known& known,
                  std::vector<Finding>& findings);

}  // namespace review
