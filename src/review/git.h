// SPDX-License-Identifier: MIT
// What makes git run programs: in repositories that the session has made, in existing ones that were not
// protected, and in a plain directory that git would accept as a repository.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "review/known.h"
#include "review/review.h"

namespace review {

// Decided by its content, not by its name. Every directory that git started in it would use, and a few more.
bool is_repository(const base::Path& directory);

// Whether git runs the program of this setting only for a command or a tool that the user asks for. Others
// run at a status, a commit, a checkout, a fetch, or when git shows something.
bool needs_request(std::string_view key);

// Looks into each directory of git's once, and into those that it leads to: by "commondir", by a ".git" file
// or link, and by the index, whose gitlinks name directories in which `git status` starts git.
class Repositories {
  public:
    Repositories(const Session& session, Known& known, std::vector<Finding>& findings)
        : session_(session), known_(known), findings_(findings) {}

    // `directory` is a ".git" or a repository without one.
    void look_into(const base::Path& directory, const base::Path& working_tree);

    // A ".git" file or symbolic link, which may lead git anywhere.
    void look_at_link(const base::Path& link);

  private:
    struct Place {
        base::Path directory, working_tree;
    };
    void add(const Place& place);
    void look_at_all();
    void look_at_git_of(const base::Path& working_tree);
    void look_at(const base::Path& link);
    void follow(const base::Path& file, std::string_view text, const base::Path& working_tree);
    bool is_new(const base::Path& path);
    bool has_new_link(const base::Path& target);
    base::Path look_at_common_directory(const Place& place);
    void look_into_modules(const base::Path& modules, int depth);
    void look_at_index(const Place& place, const base::Path& common);
    void look_at_gitlinks(const base::Path& index, const base::Path& working_tree,
                          const std::vector<std::string>& paths);

    const Session& session_;
    Known& known_;
    std::vector<Finding>& findings_;
    std::vector<Place> pending_;
    std::set<base::Path> seen_;
    size_t index_bytes_ = 0, gitlinks_ = 0;
};

// Files of the project that a setting of git's names as a program. The jail can't change the setting, but it
// can change the file: `core.fsmonitor = ./tools/watch` runs what a session has written there.

struct Configuration {
    base::Path file;
    base::Path working_tree;
    bool is_callers = false;  // no session could write it
};

// Adds the changed files that the words of this configuration name. A relative name is looked for in the
// project and in the working tree. Names that a shell would compute are not found.
void look_at_programs(const Configuration& configuration, const Session& session, Known& known,
                      std::vector<Finding>& findings);

}  // namespace review
