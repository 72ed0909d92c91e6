// SPDX-License-Identifier: MIT
// Theory of operation. /tmp/.agent-sandbox-UID (0700, ours, no link) holds for each job a lock and the
// directory that its jails see as /tmp; the same name below /dev/shm holds the memory. Every jail holds the
// lock shared. Who can have it alone is the last, and removes both. A lock that was removed while somebody
// waited for it is noticed by its inode, and made anew.
#include "session/job_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/remove_tree.h"

namespace session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLock = ".lock";
constexpr int kMostTries = 16;

// Ours alone, and a directory: the place is one where everybody can make names.
bool make_own(const std::string& path) {
    (void)::mkdir(path.c_str(), 0700);
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::getuid() &&
           (status.st_mode & 077) == 0;
}

// Programs look at the mode of /tmp.
bool make_shared(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
    return ::chmod(path.c_str(), 01777) == 0;
}

bool is_still_named(int lock, const std::string& path) {
    struct stat held, named;
    return ::fstat(lock, &held) == 0 && ::lstat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

base::Fd lock_file(const std::string& path) {
    return base::Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

void remove_job(const std::string& own, const std::string& own_memory, const std::string& job) {
    base::remove_tree(own + "/" + job);
    base::remove_tree(own_memory + "/" + job);
    ::unlink((own + "/" + job + ".ranks").c_str());
    ::unlink((own + "/" + job + std::string(kLock)).c_str());
}

// Jobs that nobody is in any more.
void sweep(const std::string& own, const std::string& own_memory) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(own, ignored)) {
        std::string name = entry.path().filename();
        if (!name.ends_with(kLock)) continue;
        base::Fd lock = lock_file(entry.path());
        if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
        remove_job(own, own_memory, name.substr(0, name.size() - kLock.size()));
    }
}

bool is_number(const std::string& job) {
    return !job.empty() && job.size() <= 10 &&
           std::ranges::all_of(job, [](unsigned char letter) { return std::isdigit(letter); });
}

}  // namespace

bool JobPlace::enter(const std::string& job, const std::string& files, const std::string& memory) {
    std::string name = "/.agent-sandbox-" + std::to_string(::getuid());
    if (!is_number(job) || !make_own(files + name) || !make_own(memory + name)) return false;
    own_ = files + name;
    own_memory_ = memory + name;
    sweep(own_, own_memory_);
    std::string path = own_ + "/" + job + std::string(kLock);
    for (int tries = 0; tries < kMostTries && !lock_; ++tries) {
        base::Fd lock = lock_file(path);
        if (!lock || ::flock(lock.get(), LOCK_SH) != 0) return false;
        if (is_still_named(lock.get(), path)) lock_ = std::move(lock);
    }
    if (!lock_) return false;
    job_ = job;
    if (!make_shared(own_ + "/" + job) || !make_shared(own_memory_ + "/" + job)) return false;
    temporary_ = base::Path::known(own_ + "/" + job);
    shared_memory_ = base::Path::known(own_memory_ + "/" + job);
    return true;
}

JobPlace::~JobPlace() {
    if (!lock_ || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return;
    remove_job(own_, own_memory_, job_);
}

}  // namespace session
