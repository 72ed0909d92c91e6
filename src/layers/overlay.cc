// SPDX-License-Identifier: MIT
#include "layers/overlay.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <optional>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"

namespace layers {
namespace {

constexpr size_t kMostLookedAt = 2000;
constexpr const char* kWorks = "/overlay-works";

bool is_anothers(int directory, const char* name, const struct stat& status) {
    bool is_own = status.st_uid == ::geteuid() && status.st_gid == ::getegid();
    return !is_own && !S_ISLNK(status.st_mode) && ::faccessat(directory, name, W_OK, AT_EACCESS) == 0;
}

// By breadth: a shared directory shows it at the top.
std::optional<std::string> entry_of_another(const base::Path& project) {
    struct stat status;
    if (::lstat(project.c_str(), &status) != 0) return std::nullopt;
    if (is_anothers(AT_FDCWD, project.c_str(), status)) return project.str();
    std::optional<std::string> found;
    size_t count = 0;
    std::deque<std::string> directories = {project.str()};
    while (!found && !directories.empty() && count < kMostLookedAt) {
        const std::string path = std::move(directories.front());
        directories.pop_front();
        base::Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!directory) continue;
        base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
            struct stat below;
            if (::fstatat(directory.get(), entry.d_name, &below, AT_SYMLINK_NOFOLLOW) != 0) return true;
            const std::string name = base::format("{}/{}", path, entry.d_name);
            if (is_anothers(directory.get(), entry.d_name, below)) found = name;
            if (S_ISDIR(below.st_mode)) directories.push_back(name);
            return !found && ++count < kMostLookedAt;
        });
    }
    return found;
}

// What a trial depends on: the kernel that runs, and the two file systems.
std::string circumstances(const base::Path& project, const std::string& directory) {
    base::Result<std::string> boot = base::read_file("/proc/sys/kernel/random/boot_id");
    struct stat lower, upper;
    if (!boot || ::stat(project.c_str(), &lower) != 0 || ::stat(directory.c_str(), &upper) != 0) return "";
    return base::format("{} {} {}\n", base::trim(*boot), lower.st_dev, upper.st_dev);
}

bool write_to(const char* path, const std::string& text) {
    base::Fd file(::open(path, O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool set_directory(int context, const char* key, const std::string& path) {
    base::Fd opened(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const std::string name = base::format("/proc/self/fd/{}", opened.get());
    return opened && ::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, key, name.c_str(), 0) == 0;
}

// In a process of its own, as the jail does it. Zero, or errno.
int mount_and_write(const base::Path& project, const std::string& trial) {
    const std::string uid = base::format("{} {} 1", ::geteuid(), ::geteuid());
    const std::string gid = base::format("{} {} 1", ::getegid(), ::getegid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
    bool is_mapped = write_to("/proc/self/setgroups", "deny") && write_to("/proc/self/uid_map", uid) &&
                     write_to("/proc/self/gid_map", gid);
    if (!is_mapped) return errno;
    base::Fd context(static_cast<int>(::syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC)));
    if (!context) return errno;
    bool is_set = ::syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) == 0 &&
                  set_directory(context.get(), "lowerdir", project.str()) &&
                  set_directory(context.get(), "upperdir", trial + "/upper") &&
                  set_directory(context.get(), "workdir", trial + "/work") &&
                  ::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
    if (!is_set) return errno;
    base::Fd mount(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
    if (!mount) return errno;
    // Without a file system that can be an upper directory the overlay may be mounted for reading alone.
    base::Fd file(
        ::openat(mount.get(), ".agent-sandbox-trial", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    return file ? 0 : errno;
}

int try_overlay(const base::Path& project, const std::string& directory) {
    std::string trial = directory + "/trial.XXXXXX";
    if (::mkdtemp(trial.data()) == nullptr) return errno;
    int result = 0;
    for (const char* name : {"/upper", "/work"}) {
        if (::mkdir((trial + name).c_str(), 0700) != 0) result = errno;
    }
    const pid_t child = result == 0 ? ::fork() : -1;
    if (child == 0) ::_exit(mount_and_write(project, trial));
    if (result == 0 && child < 0) result = errno;
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (child > 0) result = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    base::remove_tree(trial);
    return result;
}

}  // namespace

std::string overlay_obstacle(const base::Path& project, const std::string& directory) {
    if (std::optional<std::string> path = entry_of_another(project))
        return base::format("{} belongs to another user or group, so it can't be changed in an overlay",
                            base::printable(*path));
    if (base::Status made = base::make_directories(directory); !made) return made.error().line();
    const std::string now = circumstances(project, directory), works = directory + kWorks;
    base::Result<std::string> known = base::read_file(works);
    if (known && !now.empty() && *known == now) return "";
    const int number = try_overlay(project, directory);
    if (number == 0) {
        (void)base::write_file_atomically(works, now);
        return "";
    }
    return base::format("the kernel can't have an overlay with a layer in {} ({})",
                        base::printable(directory), base::system_error("try to mount it", number).what);
}

}  // namespace layers
