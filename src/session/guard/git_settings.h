// SPDX-License-Identifier: MIT
// The settings of protected git configurations that make git run a program, as they were at the start of the
// session. If such a file is replaced outside and is writable inside for a moment, take_new() names the new
// settings.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/covers.h"

namespace session {

// True for the files from which git reads the settings of a repository.
bool is_git_configuration(const base::Path& path);

class GitOrders {
  public:
    // Reads the configurations among the covered names.
    void read(const std::vector<backends::Cover>& covers);

    // The keys of `path` that make git run a program, and that are new or have a new value since the last
    // call.
    std::vector<std::string> take_new(const base::Path& path);

  private:
    using Settings = std::set<std::pair<std::string, std::string>>;  // key, value
    std::map<base::Path, Settings> known_;
};

}  // namespace session
