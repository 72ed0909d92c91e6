// SPDX-License-Identifier: MIT
// The settings of protected git configurations that make git run a program, as they were when the session
// started. After such a file was replaced outside and open inside for a moment, the new ones are named.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/covers.h"

namespace session {

// True for the files in which git looks for settings of a repository.
bool is_git_configuration(const base::Path& path);

class GitOrders {
  public:
    // Reads the configurations among the covered names.
    void read(const std::vector<backends::Cover>& covers);

    // The keys of `path` that make git run a program, and that were not there before with this value.
    std::vector<std::string> take_new(const base::Path& path);

  private:
    using Settings = std::set<std::pair<std::string, std::string>>;  // key, value
    std::map<base::Path, Settings> known_;
};

}  // namespace session
