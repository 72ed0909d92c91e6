// SPDX-License-Identifier: MIT
// Theory of operation. The first rank starts a holder. This process makes a user namespace that maps the
// account to itself, and an ipc and a network namespace that the user namespace owns. Then it only waits for
// the end of the rank that started it. The record contains its pid and start time, under a lock; with these
// the other ranks open its namespaces. A living rank keeps the namespaces alive without the holder, because
// its jail is in them. Only the account that made a user namespace may enter it from outside.
#include "session/job/job_namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/format.h"
#include "base/process/descriptors.h"
#include "base/text.h"

namespace session {
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
