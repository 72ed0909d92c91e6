// SPDX-License-Identifier: MIT
// Theory of operation. /tmp/.agent-sandbox-UID-NAME (mode 0700, owned by us, not a link) contains a lock and
// the directory that the jails of one job see as /tmp. The same name below /dev/shm contains their shared
// memory. NAME is a hash of the job's number and a key in the user's state directory: another user can't
// predict it, and can't take it once it exists.
//
// Every jail holds the lock shared. A jail that gets it exclusively is the last one, and removes both
// directories. It renames them first, the memory before the files. A jail that waited for the lock sees by
// the inode that the path now leads to another lock or to none, and makes the directories again.
#include "session/job/job_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/encoding/sha256.h"
#include "base/format.h"
#include "base/remove_tree.h"
#include "slurm/jobs/record.h"

namespace session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "/.agent-sandbox-";
constexpr std::string_view kKeyFile = "/job-key";
constexpr std::string_view kRemoved = ".removed";
constexpr size_t kKeyBytes = 32;
constexpr size_t kNameDigits = 24;
constexpr int kMostJobTries = 1000;

// A directory, owned by us and closed to others: every user can make names in the parent. A jail that ends
// may remove it between two calls: then it is made once more.
bool make_own(const std::string& path) {
    for (int tries = 0; tries < kMostJobTries; ++tries) {
        (void)::mkdir(path.c_str(), 0700);
        struct stat status;
        if (::lstat(path.c_str(), &status) == 0)
            return S_ISDIR(status.st_mode) && status.st_uid == ::getuid() && (status.st_mode & 077) == 0;
        if (errno != ENOENT) return false;
    }
    return false;
}

// Programs check the mode of /tmp.
bool make_shared(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
    return ::chmod(path.c_str(), 01777) == 0;
}

std::string lock_of(const std::string& own) {
    return own + "/lock";
}

base::Fd lock_file(const std::string& own) {
    return base::Fd(::open(lock_of(own).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// Whether no other jail uses the directories. Converting a shared lock into an exclusive one releases it for
// a moment. In that moment another process may have removed the directories and made new ones.
bool is_last(int lock, const std::string& own) {
    return ::flock(lock, LOCK_EX | LOCK_NB) == 0 && base::is_still_named(lock, lock_of(own));
}

// The caller holds the lock exclusively.
void remove_place(const std::string& own, const std::string& own_memory) {
    for (const std::string& path : {own_memory, own}) {
        std::string aside = path + std::string(kRemoved);
        base::remove_tree(aside);
        bool is_aside = ::rename(path.c_str(), aside.c_str()) == 0;
        if (is_aside) base::remove_tree(aside);
    }
}

// Removes directories of this user's other jobs that no jail uses any more.
void sweep(const std::string& files, const std::string& memory, const std::string& mine) {
    std::string start = mine.substr(1, mine.rfind('-'));
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(files, ignored)) {
        std::string name = entry.path().filename();
        struct stat status;
        bool is_own = name.starts_with(start) && "/" + name != mine &&
                      ::lstat(entry.path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == ::getuid();
        if (!is_own) continue;
        base::Fd lock = lock_file(entry.path());
        if (lock && is_last(lock.get(), entry.path())) remove_place(entry.path(), memory + "/" + name);
    }
}

base::Result<std::string> read_key(const std::string& path) {
    base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return base::system_error("open " + path, errno);
    base::Result<std::string> key = base::read_descriptor(file.get(), kKeyBytes + 1);
    if (key && key->size() != kKeyBytes)
        return base::Error{.what = path + " is damaged", .advice = "remove it"};
    return key;
}

}  // namespace

base::Result<std::string> job_key(const std::string& state_directory) {
    std::string path = state_directory + std::string(kKeyFile);
    if (base::Result<std::string> known = read_key(path)) return known;
    // Another rank may have set it since, so it is read again.
    if (::access(path.c_str(), F_OK) == 0) return read_key(path);
    if (base::Status made = base::make_directories(state_directory); !made) return made.error();
    std::string key(kKeyBytes, '\0');
    if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
        return base::system_error("get random bytes", errno);
    // Several ranks start at the same time. One of them sets the key: link() fails for the others.
    std::string fresh = base::format("{}.{}", path, base::sha256(key).substr(0, kNameDigits));
    if (base::Status written = base::write_file_atomically(fresh, key); !written) return written.error();
    (void)!::link(fresh.c_str(), path.c_str());
    ::unlink(fresh.c_str());
    return read_key(path);
}

bool JobPlace::enter(const std::string& job, const std::string& key, const std::string& files,
                     const std::string& memory) {
    if (!slurm::is_job_number(job) || key.empty()) return false;
    std::string name =
        base::format("{}{}-{}", kPrefix, ::getuid(), base::sha256(key + job).substr(0, kNameDigits));
    sweep(files, memory, name);
    own_ = files + name;
    own_memory_ = memory + name;
    for (int tries = 0; tries < kMostJobTries && !lock_; ++tries) {
        if (!make_own(own_)) return false;
        base::Fd lock = lock_file(own_);
        if (!lock || ::flock(lock.get(), LOCK_SH) != 0) continue;
        if (base::is_still_named(lock.get(), lock_of(own_))) lock_ = std::move(lock);
    }
    if (!lock_ || !make_own(own_memory_)) return false;
    if (!make_shared(own_ + "/tmp") || !make_shared(own_memory_ + "/shm")) return false;
    temporary_ = base::Path::known(own_ + "/tmp");
    shared_memory_ = base::Path::known(own_memory_ + "/shm");
    return true;
}

std::string JobPlace::record() const {
    return temporary_.is_root() ? "" : own_ + "/ranks";
}

JobPlace::~JobPlace() {
    if (lock_ && is_last(lock_.get(), own_)) remove_place(own_, own_memory_);
}

}  // namespace session
