// SPDX-License-Identifier: MIT
// What git would take orders from: in repositories that the session has made, in those that were there and
// stood open, and in a plain directory that git would take for a repository.
#pragma once

#include <vector>

#include "review/known.h"
#include "review/review.h"

namespace review {

// By its content, not by its name: git in such a directory obeys it.
bool is_repository(const base::Path& directory);

void look_into_repository(const base::Path& repository, Known& known, std::vector<Finding>& findings);

// A ".git" file or symbolic link, which may lead git anywhere.
void look_at_link(const base::Path& link, const Session& session, Known& known,
                  std::vector<Finding>& findings);

}  // namespace review
