// SPDX-License-Identifier: MIT
// Which tools the caller has (share/project/tools.list). A protected name that is missing is held only for a
// tool that could read it: a placeholder for each known name would fill every project with empty directories.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "plan/draft.h"

namespace plan {

class Tools {
  public:
    explicit Tools(const Draft& draft) : draft_(draft) {}

    // Whether a missing name must be held for this entry of project.protect.
    bool needs_hold(const config::Item& item);
    // The same for a built-in name.
    bool needs_hold(std::string_view name);

  private:
    bool has_one_of(std::string_view tools);
    bool has_program(std::string_view name);
    bool has_settings(std::string_view relative) const;
    bool is_running(std::string_view program) const;
    const std::vector<base::Path>& search_path();

    const Draft& draft_;
    bool has_search_path_ = false;
    std::vector<base::Path> search_path_;        // physical directories
    std::map<std::string_view, bool> programs_;  // those that were asked for
};

// Directories of the project that stay writable: only the protected names in them are held.
std::vector<std::string_view> writable_directories();

}  // namespace plan
