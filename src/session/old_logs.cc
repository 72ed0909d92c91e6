// SPDX-License-Identifier: MIT
#include "session/old_logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/entries.h"
#include "base/file.h"

namespace session {

void remove_old_logs(const std::string& directory, std::time_t longest, std::time_t now) {
    base::Fd place(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!place) return;
    base::visit_entries(place.get(), [&](const struct dirent64& entry) {
        if (!std::string_view(entry.d_name).ends_with(".jsonl")) return true;
        struct stat status;
        bool is_log = ::fstatat(place.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                      S_ISREG(status.st_mode);
        if (is_log && status.st_mtim.tv_sec + longest < now) ::unlinkat(place.get(), entry.d_name, 0);
        return true;
    });
}

}  // namespace session
