// SPDX-License-Identifier: MIT
// Protected names that no placeholder holds, because the user has no tool that reads them. What appears there
// while sessions run is moved out of the project when the last of these sessions has ended.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "backends/covers.h"
#include "base/file.h"
#include "base/path.h"
#include "plan/plan.h"
#include "session/control/set_aside.h"

namespace session {

class NewNames {
  public:
    NewNames() = default;
    // Before the jail exists. If the state directory can't be written, names are still removed from the
    // project at the end.
    NewNames(const plan::Plan& plan, const std::string& state_directory, std::string session);

    bool is_empty() const { return names_.empty(); }
    // For a process that closes all others.
    int project_descriptor() const { return project_.get(); }
    int lock_descriptor() const { return locks_.get(); }

    // While the jail runs: moves a file with this name, directly in the project, which must not wait for the
    // end of the session.
    enum class EarlyMove {
        nothing,  // there was no such file
        moved,
        left,       // the jail prevented it this time: try again
        too_often,  // the session has made the file so often that it must end
    };
    EarlyMove move_now(const base::Path& path);

    // After the death of the jail: moves the names that are there now and that no other session watches, and
    // links in repositories (git_links.h). `covers` are those of the plan. Safe to call again.
    std::vector<MovedName> move_away(const std::vector<backends::Cover>& covers);

    // Whether a running session would move this name.
    static bool is_watched(const std::string& state_directory, const base::Path& path);

  private:
    struct Name {
        base::Path path;
        base::Path first_missing;
        std::string why;
    };
    void move_one(const Name& name, const base::Path& project, std::vector<MovedName>& moved);
    void move_links(const base::Path& project, const std::vector<backends::Cover>& covers,
                    std::vector<MovedName>& moved) const;
    void remove_empty_parents(const Name& name) const;
    bool is_file_there(const std::string& name) const;
    void take_early(const Name& name);
    bool is_placeholder(int parent, const std::string& name, const base::Path& path) const;

    std::string state_directory_, session_;
    base::Path project_path_;
    bool is_layered_ = false;  // the project itself was not written
    std::vector<Name> names_;
    base::Fd project_;
    base::Fd locks_;
    struct timespec since_ = {};
    int early_moves_ = 0;
};

}  // namespace session
