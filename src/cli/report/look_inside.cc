// SPDX-License-Identifier: MIT
#include "cli/report/look_inside.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/entries.h"
#include "base/file.h"

namespace cli {
namespace {

// An empty file covers a file, and an empty tmpfs covers a directory.
bool shows_content(const base::Path& path, bool closed_by_rule) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0) return false;
    if (S_ISREG(status.st_mode)) return status.st_size > 0;
    struct statfs system;
    bool is_hosts = S_ISDIR(status.st_mode) && closed_by_rule && ::fstatfs(fd.get(), &system) == 0 &&
                    system.f_type != TMPFS_MAGIC;
    bool has_entry = false;
    if (is_hosts) base::visit_entries(fd.get(), [&](const struct dirent64&) { return !(has_entry = true); });
    return has_entry;
}

// The guard mounts the null device over a file.
bool is_null_device(const base::Path& path) {
    struct stat status;
    bool is_device = ::lstat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
    return is_device && status.st_rdev == makedev(1, 3) && path.str() != "/dev/null";
}

}  // namespace

void correct_by_looking(plan::Explanation& explanation, const base::Path& path, bool to_write,
                        bool closed_by_rule) {
    if (!explanation.is_allowed && !to_write && shows_content(path, closed_by_rule)) {
        explanation.verdict = "readable at this moment";
        explanation.is_allowed = true;
        explanation.reason.why += "; it appeared after the start of the session and is not covered yet";
        explanation.change.clear();
    } else if (explanation.is_allowed && is_null_device(path)) {
        explanation.verdict = "reads as empty";
        explanation.is_allowed = false;
        explanation.reason = {"project.mask: it was covered after the start of the session", {}};
        explanation.change = "project.unmask";
    } else if (explanation.is_allowed && to_write && ::access(path.c_str(), W_OK) != 0 && errno == EROFS) {
        explanation.verdict = "readable";
        explanation.is_allowed = false;
        explanation.reason = {"it was made read-only after the start of the session", {}};
        explanation.change.clear();
    }
}

}  // namespace cli
