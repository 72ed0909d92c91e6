// SPDX-License-Identifier: MIT
// Directories of a session that only its user can reach, and what a launch makes on the host before the jail
// exists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "plan/plan.h"

namespace session {

// Where the directories of running sessions are: a private directory of the user on this machine that does
// not survive a reboot. A directory of another user is never used, whatever its name.

// Every place where sessions of this user may be, best first: the user's runtime directory, even if this
// process has no variable for it; a directory in /tmp; and the state directory, which machines may share.
std::vector<std::string> runtime_places(std::string_view runtime_directory, std::string_view state_directory);

// The first of them that is usable, made if it is missing; empty: no place is usable. A place is a directory
// of this user with mode 0700. `taken` is set to one that exists and does not qualify.
std::string make_runtime_place(const std::vector<std::string>& places, std::string* taken = nullptr);

// The directory of one session.
std::string session_directory_path(std::string_view place, std::string_view session);

// The session's own directory, for backends that can't mount. It is made before the launch and removed when
// the jail is dead (plan::PrivateDirectory), or at the latest when the next session of the same user cleans
// up.

class PrivateDirectory {
  public:
    PrivateDirectory() = default;
    ~PrivateDirectory() { remove(); }
    PrivateDirectory(const PrivateDirectory&) = delete;
    PrivateDirectory& operator=(const PrivateDirectory&) = delete;

    // Makes the directory that the plan wants, if any.
    base::Status make(const plan::PrivateDirectory& wanted);
    bool is_empty() const { return path_.empty(); }
    int descriptor() const { return directory_.get(); }  // holds the lock; -1: no directory
    // With everything below it, also files of the jail. Follows no link.
    void remove();

  private:
    std::string path_;
    base::Fd directory_;
};

// Removes directories in `parent` of sessions that were killed together with their keepers.
void remove_stale_directories(const std::string& parent);

// Directories and files that a launch makes on the host before the jail exists. Jails of earlier sessions
// could write next to them, so no symbolic link is followed, neither on the way to them nor to the source of
// a copy.

base::Status make_new_directories(const plan::Plan& plan, std::string_view state_directory);

// Removes symbolic links that an earlier jail left in the sandbox's own directories at mount points of this
// jail: the mount would fail, and every launch of this project with it.
void remove_planted_links(const plan::Plan& plan);

// The sandbox's own copies, written again if the user's file is newer.
base::Status make_kept_files(const plan::Plan& plan);

}  // namespace session
