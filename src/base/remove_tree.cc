// SPDX-License-Identifier: MIT
#include "base/remove_tree.h"

#include <filesystem>

namespace base {

namespace fs = std::filesystem;

void remove_tree(const std::string& path) {
    std::error_code ignored;
    for (fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, ignored),
         end;
         !ignored && entry != end; entry.increment(ignored)) {
        if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
            fs::permissions(entry->path(), fs::perms::owner_all, ignored);
    }
    fs::remove_all(path, ignored);
}

}  // namespace base
