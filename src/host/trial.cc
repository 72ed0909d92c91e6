// SPDX-License-Identifier: MIT
#include "host/trial.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/file.h"
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

void take(const std::string& reason, std::optional<std::string>& fact) {
    if (!fact) fact = reason;
}

constexpr BackendTrial kTrials[] = {
    {base::Backend::native, [](const Facts&) { return try_native(); },
     [](const std::string& reason, Facts& facts) { take(reason, facts.native_obstacle); }},
    {base::Backend::bwrap, [](const Facts&) { return try_user_namespace(); },
     [](const std::string& reason, Facts& facts) { take(reason, facts.user_namespace_obstacle); }},
    {base::Backend::firejail, try_firejail, take_firejail_failure}};

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

// The program's `channel` goes to the pipe.
[[noreturn]] void execute(const char* program, std::vector<const char*> words, int output, int channel) {
    char* const environment[] = {nullptr};
    words.push_back(nullptr);
    ::dup2(output, channel);
    ::execve(program, const_cast<char* const*>(words.data()), environment);
    ::_exit(kCannotExecute);
}

// The first line of the error, without firejail's own prefix.
std::string first_error(std::string_view text) {
    constexpr std::string_view kPrefix = "Error: ";
    std::string_view line = base::trim(text.substr(0, text.find('\n')));
    if (line.starts_with(kPrefix)) line.remove_prefix(kPrefix.size());
    return line.empty() ? "it printed no reason" : base::printable(line);
}

// A filter around this process may refuse these sockets, which set up the network of a jail. A hardened
// service has such a filter (RestrictAddressFamilies).
bool has_routes() {
    if (::unshare(CLONE_NEWNET) != 0) return false;
    base::Fd routes(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    return static_cast<bool>(routes);
}

// Ubuntu 24.04 allows creating the namespace and then refuses every capability in it. So try what bwrap does
// next and what fails there: writing the map, creating a mount namespace and changing a mount in it. A
// hardened service refuses the last one (SystemCallFilter) or the sockets of its network.
int use_user_namespace(const std::string& map) {
    if (::unshare(CLONE_NEWUSER) != 0) return errno;
    base::Fd file(::open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC));
    if (!file || ::write(file.get(), map.data(), map.size()) < 0) return errno;
    if (::unshare(CLONE_NEWNS) != 0) return errno;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return errno;
    return has_routes() ? 0 : errno;
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
    } else if (!has_routes()) {
        say_failure(answer, "set up a network of its own");
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
    if (child == 0) execute(bwrap.path.c_str(), {"bwrap", "--version"}, output.get(), STDOUT_FILENO);

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

std::optional<std::string> try_firejail(const Facts& facts) {
    constexpr std::string_view kCant = "firejail can't build a jail here: ";
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno).what;
    base::Fd answer(ends[0]), output(ends[1]);
    pid_t child = ::fork();
    if (child < 0) return base::system_error("start a process", errno).what;
    if (child == 0) {
        // No output of the trial belongs to the caller, and no input to firejail.
        base::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
        ::dup2(nothing.get(), STDIN_FILENO);
        ::dup2(nothing.get(), STDOUT_FILENO);
        execute(facts.firejail.path.c_str(),
                {"firejail", "--quiet", "--noprofile", "--private-dev", "--ipc-namespace", "--net=none",
                 "--x11=none", facts.own_program.c_str(), "--version"},
                output.get(), STDERR_FILENO);
    }
    output.reset();
    base::Result<std::string> text = base::read_descriptor(answer.get(), kLongestAnswer);
    answer.reset();
    int status = wait_for(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
    return std::string(kCant) + (text ? first_error(*text) : text.error().what);
}

void take_firejail_failure(const std::string& reason, Facts& facts) {
    if (facts.firejail.state != ProgramState::usable) return;
    facts.firejail.state = ProgramState::not_executable;
    facts.firejail.problem = reason;
}

bool is_filtered() {
    return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
}

std::span<const BackendTrial> backend_trials() {
    return kTrials;
}

}  // namespace host
