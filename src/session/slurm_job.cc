// SPDX-License-Identifier: MIT
// Theory of operation. /tmp/.agent-sandbox-UID-NAME (mode 0700, owned by us, not a link) contains a lock and
// the directory that the jails of one job see as /tmp. The same name below /dev/shm contains their shared
// memory. NAME is a hash of the job's number and a key in the user's state directory: another user can't
// predict it, and can't take it once it exists.
//
// Every jail holds the lock shared. A jail that gets it exclusively is the last one, and removes both
// directories. It renames them first, the memory before the files. A jail that waited for the lock sees by
// the inode that the path now leads to another lock or to none, and makes the directories again.
#include "session/slurm_job.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/encoding/sha256.h"
#include "base/no_links.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "slurm/jobs/spec.h"

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

bool JobDirectory::enter(const std::string& job, const std::string& key, const std::string& files,
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

std::string JobDirectory::record() const {
    return temporary_.is_root() ? "" : own_ + "/ranks";
}

JobDirectory::~JobDirectory() {
    if (lock_ && is_last(lock_.get(), own_)) remove_place(own_, own_memory_);
}

// Theory of operation. The first rank starts a holder. This process makes a user namespace that maps the
// account to itself, and an ipc and a network namespace that the user namespace owns. Then it only waits for
// the end of the rank that started it. The record contains its pid and start time, under a lock; with these
// the other ranks open its namespaces. A living rank keeps the namespaces alive without the holder, because
// its jail is in them. Only the account that made a user namespace may enter it from outside.

namespace {

bool write_text(const char* path, const std::string& text) {
    base::Fd file(::open(path, O_WRONLY | O_CLOEXEC));
    return file && base::write_all(file.get(), text);
}

bool enter_own_namespaces() {
    std::string uid = std::to_string(::getuid()), gid = std::to_string(::getgid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWIPC | CLONE_NEWNET) != 0) return false;
    return write_text("/proc/self/uid_map", uid + " " + uid + " 1") &&
           write_text("/proc/self/setgroups", "deny") &&
           write_text("/proc/self/gid_map", gid + " " + gid + " 1");
}

// The 22nd field of /proc/PID/stat, counted after the name, which may contain any byte. Empty: no such
// process.
std::string start_time_of(pid_t process) {
    base::Result<std::string> text = base::read_file(base::format("/proc/{}/stat", process));
    if (!text) return {};
    size_t end = text->rfind(')');
    if (end == std::string::npos) return {};
    std::vector<std::string_view> fields = base::split(std::string_view(*text).substr(end + 2), ' ');
    constexpr size_t kStart = 19;
    return fields.size() > kStart ? std::string(fields[kStart]) : "";
}

// "PID START".
pid_t holder_in(int record) {
    char bytes[64] = {};
    int process = 0;
    char start[32] = {};
    if (::pread(record, bytes, sizeof bytes - 1, 0) <= 0) return -1;
    if (std::sscanf(bytes, "%d %31s", &process, start) != 2 || process <= 0) return -1;
    return start_time_of(process) == start ? process : -1;
}

void write_holder(int record, pid_t holder) {
    std::string text = base::format("{} {}", holder, start_time_of(holder));
    (void)!::ftruncate(record, 0);
    (void)!::pwrite(record, text.data(), text.size(), 0);
}

// Exits when the process at the other end of `life` exits, for any reason.
[[noreturn]] void hold(int life) {
    ::prctl(PR_SET_NAME, "asb-ranks");
    ::setsid();
    struct sigaction ignored = {};
    ignored.sa_handler = SIG_IGN;
    for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) ::sigaction(number, &ignored, nullptr);
    base::close_others({life});
    pid_t self = enter_own_namespaces() ? ::getpid() : -1;
    (void)!::send(life, &self, sizeof self, MSG_NOSIGNAL);
    char byte;
    while (self > 0 && ::read(life, &byte, 1) < 0 && errno == EINTR) continue;
    ::_exit(0);
}

}  // namespace

std::vector<int> JobNamespaces::descriptors() const {
    if (!user_ || !ipc_) return {};
    return {user_.get(), ipc_.get()};
}

std::vector<int> JobNamespaces::socket_descriptors() const {
    if (!user_ || !net_) return {};
    return {user_.get(), net_.get()};
}

bool JobNamespaces::open_of(pid_t holder) {
    std::string place = base::format("/proc/{}/ns/", holder);
    user_ = base::Fd(::open((place + "user").c_str(), O_RDONLY | O_CLOEXEC));
    ipc_ = base::Fd(::open((place + "ipc").c_str(), O_RDONLY | O_CLOEXEC));
    net_ = base::Fd(::open((place + "net").c_str(), O_RDONLY | O_CLOEXEC));
    return user_ && ipc_ && net_;
}

// The holder is a grandchild, so that the process that waits for the jail has no other child to wait for.
bool JobNamespaces::make(int record) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    life_ = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    pid_t between = ::fork();
    if (between < 0) return false;
    if (between == 0) {
        if (::fork() == 0) hold(theirs.get());
        ::_exit(0);
    }
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) continue;
    theirs.reset();
    pid_t holder = -1;
    while (::recv(life_.get(), &holder, sizeof holder, MSG_WAITALL) < 0 && errno == EINTR) continue;
    if (holder <= 0 || !open_of(holder)) return false;
    write_holder(record, holder);
    return true;
}

void JobNamespaces::join(const std::string& record) {
    base::Fd file(::open(record.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || ::flock(file.get(), LOCK_EX) != 0) return;
    pid_t holder = holder_in(file.get());
    if (holder > 0 && open_of(holder)) return;
    if (make(file.get())) return;
    user_.reset();
    ipc_.reset();
    net_.reset();
    life_.reset();
}

}  // namespace session
