// SPDX-License-Identifier: MIT
#include "host/private_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "base/entries.h"
#include "base/file.h"

namespace host {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

struct Found {
    std::vector<base::Path> hidden;
    std::optional<base::Error> problem;
};

// Threat: what was not looked at is shown (tests/admin/resource_faults.bats).
void give_up_on(const base::Path& path, int number, Found& found) {
    if (base::is_closed_or_gone(number) || found.problem) return;
    found.problem = base::system_error("look for private files in " + path.str(), number);
}

bool is_everyones(const struct stat& status) {
    mode_t wanted = S_ISDIR(status.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    return (status.st_mode & wanted) == wanted;
}

// True: a directory that everyone may list, to look into.
bool look_at(int directory, const base::Path& path, const char* name, Found& found) {
    struct stat status;
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    bool is_directory = S_ISDIR(status.st_mode);
    if (is_everyones(status)) return is_directory;
    if (::faccessat(directory, name, is_directory ? X_OK : R_OK, AT_EACCESS) == 0)
        found.hidden.push_back(path / name);
    return false;
}

void look_into(int directory, const base::Path& path, Found& found) {
    // Not within the visit: its buffer lies on the stack, which may not grow for each level.
    std::vector<std::string> below;
    errno = 0;
    bool is_read = base::visit_entries(directory, [&](const struct dirent64& entry) {
        bool is_directory = entry.d_type != DT_LNK && look_at(directory, path, entry.d_name, found);
        if (is_directory) below.emplace_back(entry.d_name);
        return true;
    });
    if (!is_read) give_up_on(path, errno, found);
    for (const std::string& name : below) {
        base::Fd child(::openat(directory, name.c_str(), kOpenDirectory));
        if (child) {
            look_into(child.get(), path / name, found);
        } else {
            give_up_on(path / name, errno, found);
        }
    }
}

}  // namespace

base::Result<std::vector<base::Path>> find_private_files(const base::Path& root) {
    Found found;
    base::Fd directory(::open(root.c_str(), kOpenDirectory));
    if (directory) {
        look_into(directory.get(), root, found);
    } else {
        give_up_on(root, errno, found);
    }
    if (found.problem) return *found.problem;
    std::ranges::sort(found.hidden);
    return std::move(found.hidden);
}

namespace {

// With the first thread the C library installs a handler for a signal of its own, which pid 1 of the jail
// would inherit (tests/jail/differential.bats). sigaction() does not change that signal.
void remove_library_handler() {
    constexpr int kSetIdentity = 33;  // SIGSETXID: tells other threads of setuid(2)
    struct {
        void* handler;  // null: the default
        unsigned long flags;
        void* restorer;
        uint64_t mask;
    } action = {};
    ::syscall(SYS_rt_sigaction, kSetIdentity, &action, nullptr, sizeof action.mask);
}

}  // namespace

PrivateFilesSearch::PrivateFilesSearch(base::Path root) : root_(std::move(root)) {
    // Signals are for the thread that plans.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, &search, this) == 0) thread_ = thread;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

PrivateFilesSearch::~PrivateFilesSearch() {
    end_thread();
}

void* PrivateFilesSearch::search(void* self) {
    auto& searched = *static_cast<PrivateFilesSearch*>(self);
    searched.found_ = find_private_files(searched.root_);
    return nullptr;
}

void PrivateFilesSearch::end_thread() {
    if (!thread_) return;
    ::pthread_join(*thread_, nullptr);
    thread_.reset();
    remove_library_handler();
}

base::Result<std::vector<base::Path>> PrivateFilesSearch::wait() {
    end_thread();
    if (!found_) found_ = find_private_files(root_);
    return *found_;
}

}  // namespace host
