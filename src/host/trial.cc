// SPDX-License-Identifier: MIT
#include "host/trial.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"

namespace host {
namespace {

constexpr size_t kLongestAnswer = 4096;
constexpr int kCannotExecute = 127;
// OPEN_TREE_CLONE and AT_RECURSIVE, which older headers lack. Recursive, because the kernel refuses a copy
// without the mounts that the host has below it.
constexpr unsigned kCloneTree = 0x1 | 0x8000 | O_CLOEXEC;
constexpr unsigned kFromDescriptor = 0x4;  // MOVE_MOUNT_F_EMPTY_PATH
constexpr BackendTrial kTrials[] = {
    {base::Backend::native, try_native, &Facts::native_obstacle},
    {base::Backend::bwrap, try_user_namespace, &Facts::user_namespace_obstacle}};

// Parses a number and the dot after it, if there is one.
bool take_number(std::string_view& text, int& number) {
    const std::optional<int> found = base::take_number<int>(text);
    if (!found || *found < 0) return false;
    number = *found;
    if (text.starts_with('.')) text.remove_prefix(1);
    return true;
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

[[noreturn]] void execute_version(const char* program, int output) {
    char* const words[] = {const_cast<char*>("bwrap"), const_cast<char*>("--version"), nullptr};
    char* const environment[] = {nullptr};
    ::dup2(output, STDOUT_FILENO);
    ::execve(program, words, environment);
    ::_exit(kCannotExecute);
}

// Ubuntu 24.04 allows creating the namespace and then refuses every capability in it. So try what bwrap does
// next and what fails there: writing the map and creating a mount namespace.
int use_user_namespace(const std::string& map) {
    if (::unshare(CLONE_NEWUSER) != 0) return errno;
    base::Fd file(::open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC));
    if (!file || ::write(file.get(), map.data(), map.size()) < 0) return errno;
    return ::unshare(CLONE_NEWNS) == 0 ? 0 : errno;
}

bool writes(const char* path, const std::string& text) {
    base::Fd file(::open(path, O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool maps(uid_t user, gid_t group) {
    std::string users = std::to_string(user), groups = std::to_string(group);
    return writes("/proc/self/setgroups", "deny") &&
           writes("/proc/self/uid_map", users + " " + users + " 1\n") &&
           writes("/proc/self/gid_map", groups + " " + groups + " 1\n");
}

bool places_a_copy() {
    base::Fd copy(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, "/proc", kCloneTree)));
    return copy && ::syscall(SYS_move_mount, copy.get(), "", AT_FDCWD, "/proc", kFromDescriptor) == 0;
}

// Writes the first failure to `answer`; no output means success.
void say_failure(int answer, std::string_view what) {
    std::string text = std::string(what) + ", the kernel answers: " + std::strerror(errno);
    (void)!::write(answer, text.data(), text.size());
}

// Runs as pid 1 of the pid namespace. It mounts over /proc three times, in a mount namespace that ends with
// this process.
void use_namespaces(int answer) {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        say_failure(answer, "detach its mounts from the host's");
    } else if (!places_a_copy()) {
        say_failure(answer, "put the copy of a mount in its place");
    } else if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
        say_failure(answer, "mount /proc");
    } else if (::mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, nullptr) != 0) {
        say_failure(answer, "mount a tmpfs");
    } else if (::unshare(CLONE_NEWUSER) != 0) {
        say_failure(answer, "make a user namespace in a user namespace");
    }
}

void make_namespaces(int answer) {
    uid_t user = ::geteuid();
    gid_t group = ::getegid();
    if (::unshare(CLONE_NEWUSER) != 0) return say_failure(answer, "make user namespaces");
    if (!maps(user, group)) return say_failure(answer, "map its user into a user namespace");
    if (::unshare(CLONE_NEWNS | CLONE_NEWPID) != 0)
        return say_failure(answer, "make mount and pid namespaces");
    pid_t first = ::fork();
    if (first < 0) return say_failure(answer, "start a process in a pid namespace");
    if (first == 0) {
        use_namespaces(answer);
        ::_exit(0);
    }
    wait_for(first);
}

}  // namespace

std::string BwrapVersion::text() const {
    return base::format("{}.{}.{}", major, minor, patch);
}

base::Result<BwrapVersion> parse_bwrap_version(std::string_view output) {
    constexpr std::string_view kProgram = "bubblewrap ";
    std::string_view text = base::trim(output);
    BwrapVersion version;
    bool is_ours = text.starts_with(kProgram);
    if (is_ours) text.remove_prefix(kProgram.size());
    bool is_complete = is_ours && take_number(text, version.major) && take_number(text, version.minor);
    if (!is_complete) {
        return base::Error{
            .what = base::format("'{}' is not a version of bubblewrap", base::printable(base::trim(output))),
            .advice = "install bubblewrap from the distribution's packages"};
    }
    take_number(text, version.patch);
    return version;
}

base::Result<BwrapVersion> probe_bwrap_version(const TrustedProgram& bwrap) {
    if (bwrap.state != ProgramState::usable) return base::Error{.what = bwrap.problem};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd answer(ends[0]), output(ends[1]);
    pid_t child = ::fork();
    if (child < 0) return base::system_error("start " + bwrap.path.str(), errno);
    if (child == 0) execute_version(bwrap.path.c_str(), output.get());

    output.reset();
    base::Result<std::string> text = base::read_descriptor(answer.get(), kLongestAnswer);
    answer.reset();
    int status = wait_for(child);
    if (!text) return text.error();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return base::Error{.what = bwrap.path.str() + " --version failed",
                           .advice = "reinstall bubblewrap from the distribution's packages"};
    }
    return parse_bwrap_version(*text);
}

std::optional<std::string> try_user_namespace() {
    uid_t uid = ::geteuid();
    const std::string map = base::format("{} {} 1\n", uid, uid);
    pid_t child = ::fork();
    if (child < 0) return base::system_error("start a process", errno).what;
    if (child == 0) ::_exit(use_user_namespace(map));

    int status = wait_for(child);
    if (!WIFEXITED(status)) return "the process that tried was killed";
    int number = WEXITSTATUS(status);
    if (number == 0) return std::nullopt;
    return std::string("the kernel answers: ") + std::strerror(number);
}

std::optional<std::string> try_native() {
    constexpr std::string_view kCant = "agent-sandbox itself can't ";
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno).what;
    base::Fd answer(ends[0]), output(ends[1]);
    pid_t child = ::fork();
    if (child < 0) return base::system_error("start a process", errno).what;
    if (child == 0) {
        make_namespaces(output.get());
        ::_exit(0);
    }
    output.reset();
    base::Result<std::string> failure = base::read_descriptor(answer.get(), kLongestAnswer);
    int status = wait_for(child);
    if (!failure) return failure.error().what;
    if (!failure->empty()) return std::string(kCant) + *failure;
    if (!WIFEXITED(status)) return std::string(kCant) + "build a jail: the process that tried was killed";
    return std::nullopt;
}

std::span<const BackendTrial> backend_trials() {
    return kTrials;
}

}  // namespace host
