// SPDX-License-Identifier: MIT
#include "selftest/attempt.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ranges>

#include "base/file.h"

namespace selftest {
namespace {

constexpr size_t kMostRead = 1u << 20;
constexpr struct timeval kLongestAttempt = {.tv_sec = 0, .tv_usec = 300'000};

bool holds_secret(const World& world, std::string_view text) {
    return text.find(world.secret) != std::string_view::npos;
}

// Not base::read_file: the reason in a finding must be the kernel's own error.
std::string read_some(int fd) {
    std::string text;
    char bytes[4096];
    for (ssize_t got; text.size() < kMostRead && (got = ::read(fd, bytes, sizeof bytes)) > 0;) {
        text.append(bytes, static_cast<size_t>(got));
    }
    return text;
}

// Creates the missing directories above `path`; returns those that it made, outermost first.
std::vector<std::string> make_parents(const std::string& path) {
    std::vector<std::string> made;
    for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        std::string directory = path.substr(0, slash);
        if (::mkdir(directory.c_str(), 0700) == 0) made.push_back(std::move(directory));
    }
    return made;
}

}  // namespace

Finding escaped(std::string detail) {
    return {Finding::Kind::escaped, std::move(detail)};
}

Finding held(std::string detail) {
    return {Finding::Kind::held, std::move(detail)};
}

Finding held(int error) {
    return held(error_word(error));
}

Finding absent(std::string detail) {
    return {Finding::Kind::absent, std::move(detail)};
}

Finding outcome(long result, std::string_view detail) {
    return result < 0 ? held(errno) : escaped(std::string(detail));
}

std::string error_word(int error) {
    const char* name = ::strerrorname_np(error);
    return name != nullptr ? name : "errno " + std::to_string(error);
}

std::string content_of(const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return fd ? read_some(fd.get()) : std::string();
}

Finding read_secret_from(const World& world, int fd) {
    char byte;
    if (::read(fd, &byte, 0) < 0) return held(errno);
    std::string text = read_some(fd);
    if (holds_secret(world, text)) return escaped("the secret was read");
    return held(text.empty() ? "reads as empty" : "the secret is not in it");
}

Finding read_secret(const World& world, const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return fd ? read_secret_from(world, fd.get()) : held(errno);
}

Finding see(const std::string& path) {
    struct stat status;
    return outcome(::lstat(path.c_str(), &status), "it is there");
}

Finding append_to(const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!fd) return held(errno);
    struct stat before;
    if (::fstat(fd.get(), &before) != 0 || ::write(fd.get(), "#\n", 2) < 0) return held(errno);
    (void)!::ftruncate(fd.get(), before.st_size);
    return escaped("it was written");
}

Finding create(const std::string& path, std::string_view content) {
    std::vector<std::string> made = make_parents(path);
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    bool is_written = fd && ::write(fd.get(), content.data(), content.size()) >= 0;
    int error = errno;
    if (fd) ::unlink(path.c_str());
    for (const std::string& directory : made | std::views::reverse) ::rmdir(directory.c_str());
    return is_written ? escaped("it was made") : held(error);
}

Finding open_for_writing(const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    return outcome(fd.get(), "it can be written");
}

Finding rename_away(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) return held(errno);
    ::rename(to.c_str(), from.c_str());
    return escaped("it was renamed");
}

Finding execute(const std::vector<std::string>& words) {
    pid_t child = ::fork();
    if (child == 0) {
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        base::Fd nowhere(::open("/dev/null", O_RDWR));
        for (int fd : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere.get(), fd);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) < 0)
        return {Finding::Kind::broken, "cannot start a process"};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return escaped("it ran");
    return held("it did not run");
}

Finding connect_to(const World& world, int type, const struct sockaddr* address, socklen_t length) {
    base::Fd fd(::socket(address->sa_family, type | SOCK_CLOEXEC, 0));
    if (!fd) return held(errno);
    for (int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        ::setsockopt(fd.get(), SOL_SOCKET, option, &kLongestAttempt, sizeof kLongestAttempt);
    }
    if (::connect(fd.get(), address, length) != 0) return held(errno);
    // The service answers a datagram only when it receives one; on a stream it sends a greeting.
    if (::send(fd.get(), "?", 1, MSG_NOSIGNAL) < 0) return held(errno);
    char bytes[256];
    ssize_t got = ::recv(fd.get(), bytes, sizeof bytes, 0);
    if (got < 0) return held(errno == EAGAIN ? "no answer" : error_word(errno));
    bool is_ours = holds_secret(world, std::string_view(bytes, static_cast<size_t>(got)));
    return is_ours ? escaped("the service answered") : held("something else answered");
}

Finding connect_to_unix(const World& world, const std::string& path) {
    if (path.empty()) return absent("no such service here");
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return absent("its path is too long for a socket");
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';
    auto length = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + path.size());
    return connect_to(world, SOCK_STREAM, reinterpret_cast<const struct sockaddr*>(&address), length);
}

Finding in_child(const std::function<Finding()>& act) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {Finding::Kind::broken, "cannot make a pipe"};
    base::Fd from(ends[0]), to(ends[1]);
    pid_t child = ::fork();
    if (child == 0) {
        Finding finding = act();
        std::string text = std::to_string(static_cast<int>(finding.kind)) + finding.detail;
        (void)base::write_all(to.get(), text);
        ::_exit(0);
    }
    to.reset();
    std::string text = child < 0 ? std::string() : read_some(from.get());
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) return held("killed by the filter");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return {Finding::Kind::broken, "did not end in time"};
    if (text.empty()) return {Finding::Kind::broken, "ended without a word"};
    return {static_cast<Finding::Kind>(text[0] - '0'), text.substr(1)};
}

}  // namespace selftest
