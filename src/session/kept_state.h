// SPDX-License-Identifier: MIT
// Directories and files that a launch makes on the host before the jail exists. They lie beside what jails of
// earlier sessions could write, so no symbolic link is followed on the way to them or to what is copied.
#pragma once

#include "base/result.h"
#include "plan/plan.h"

namespace session {

base::Status make_new_directories(const plan::Plan& plan);

// Removes symbolic links that an earlier jail left in the sandbox's own directories at places where this jail
// has mounts: the mount would fail, and with it every launch of this project.
void remove_planted_links(const plan::Plan& plan);

// Copies of the sandbox's own, made anew where the user's file was written since.
base::Status make_kept_files(const plan::Plan& plan);

}  // namespace session
