// SPDX-License-Identifier: MIT
#include "session/old_logs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string_view>

namespace session {

void remove_old_logs(const std::string& directory, std::time_t now) {
    struct Close {
        void operator()(DIR* open) const { ::closedir(open); }
    };
    std::unique_ptr<DIR, Close> open(::opendir(directory.c_str()));
    if (!open) return;
    while (const struct dirent* entry = ::readdir(open.get())) {
        if (!std::string_view(entry->d_name).ends_with(".jsonl")) continue;
        struct stat status;
        int fd = ::dirfd(open.get());
        bool is_log =
            ::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
        if (is_log && status.st_mtim.tv_sec + kLongestKept < now) ::unlinkat(fd, entry->d_name, 0);
    }
}

}  // namespace session
