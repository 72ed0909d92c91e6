// SPDX-License-Identifier: MIT
// Directories and files that a launch makes on the host before the jail exists. Jails of earlier sessions
// could write next to them, so no symbolic link is followed, neither on the way to them nor to the source of
// a copy.
#pragma once

#include "base/result.h"
#include "plan/plan.h"

namespace session {

base::Status make_new_directories(const plan::Plan& plan);

// Removes symbolic links that an earlier jail left in the sandbox's own directories at mount points of this
// jail: the mount would fail, and every launch of this project with it.
void remove_planted_links(const plan::Plan& plan);

// The sandbox's own copies, written again if the user's file is newer.
base::Status make_kept_files(const plan::Plan& plan);

}  // namespace session
