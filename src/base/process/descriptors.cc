// SPDX-License-Identifier: MIT
#include "base/process/descriptors.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace base {
namespace {

// Linux 5.9; CLOSE_RANGE_CLOEXEC since 5.11.
bool call_close_range(unsigned first, unsigned last, unsigned flags) {
    return ::syscall(SYS_close_range, first, last, flags) == 0;
}

std::vector<int> open_descriptors() {
    std::vector<int> numbers;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
         entry.increment(error)) {
        numbers.push_back(std::atoi(entry->path().filename().c_str()));
    }
    return numbers;
}

}  // namespace

void close_others(std::vector<int> kept) {
    std::ranges::sort(kept);
    unsigned first = 0;
    bool is_done = true;
    for (int fd : kept) {
        if (fd < 0) continue;
        unsigned number = static_cast<unsigned>(fd);
        if (number > first) is_done = is_done && call_close_range(first, number - 1, 0);
        first = std::max(first, number + 1);
    }
    if (is_done && call_close_range(first, ~0u, 0)) return;
    for (int fd : open_descriptors()) {
        if (!std::ranges::binary_search(kept, fd)) ::close(fd);
    }
}

void inherit_only(const std::vector<int>& kept) {
    if (!call_close_range(3, ~0u, CLOSE_RANGE_CLOEXEC)) {
        for (int fd : open_descriptors()) {
            if (fd >= 3) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
    for (int fd : kept) ::fcntl(fd, F_SETFD, 0);
}

bool fill_standard_descriptors() {
    struct pollfd standard[] = {{STDIN_FILENO, 0, 0}, {STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
    // One call for all three. If it fails, check each with fcntl.
    bool is_asked = ::poll(standard, 3, 0) >= 0;
    for (const struct pollfd& one : standard) {
        bool is_open = is_asked ? (one.revents & POLLNVAL) == 0 : ::fcntl(one.fd, F_GETFD) >= 0;
        // open(2) returns the lowest free number, which is this one: all lower ones are open by now.
        if (!is_open && ::open("/dev/null", O_RDWR | O_NOCTTY) != one.fd) return false;
    }
    return true;
}

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// -1: the wait failed.
short poll_once(int fd, short events, int timeout) {
    struct pollfd watched = {fd, events, 0};
    int ready = ::poll(&watched, 1, timeout);
    if (ready == 0) errno = ETIMEDOUT;
    return ready > 0 ? watched.revents : static_cast<short>(ready);
}

}  // namespace

short await_events(int fd, short events, Clock::time_point deadline) {
    for (;;) {
        auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) {
            // Not even a look: a peer that always has a byte ready must not extend the time.
            errno = ETIMEDOUT;
            return 0;
        }
        short ready = poll_once(fd, events, static_cast<int>(std::min<int64_t>(left, INT_MAX)));
        if (ready >= 0) return ready;
        if (errno != EINTR) return 0;
    }
}

short await_events(int fd, short events, milliseconds longest) {
    if (longest.count() > 0) return await_events(fd, events, Clock::now() + longest);
    short ready = -1;
    do {
        ready = poll_once(fd, events, static_cast<int>(longest.count()));
    } while (ready < 0 && errno == EINTR);
    return std::max(ready, short{0});
}

short await_events(int fd, short events, milliseconds longest, const sigset_t& mask) {
    struct pollfd watched = {fd, events, 0};
    const struct timespec time = {.tv_sec = longest.count() / 1000,
                                  .tv_nsec = longest.count() % 1000 * 1'000'000};
    int ready = ::ppoll(&watched, 1, longest.count() < 0 ? nullptr : &time, &mask);
    if (ready == 0) errno = ETIMEDOUT;
    return ready > 0 ? watched.revents : short{0};
}

namespace {

// Aligned as struct cmsghdr requires.
union ControlData {
    std::array<char, CMSG_SPACE(kMostPassed * sizeof(int))> bytes;
    struct cmsghdr alignment;
};

}  // namespace

int send_with_descriptors(int socket, std::string_view content, std::span<const int> descriptors, int flags) {
    if (descriptors.size() > kMostPassed) return EINVAL;
    struct iovec place = {const_cast<char*>(content.data()), content.size()};
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    ControlData control = {};
    if (!descriptors.empty()) {
        message.msg_control = control.bytes.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        struct cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    }
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

Status send_descriptors(int socket, std::string_view note, std::span<const int> descriptors) {
    if (note.empty() || note.size() > kLongestNote || descriptors.size() > kMostPassed) {
        return Error{.what = "cannot pass that many descriptors at once"};
    }
    int number = send_with_descriptors(socket, note, descriptors, 0);
    if (number != 0) return system_error("pass descriptors", number);
    return success();
}

std::vector<Fd> passed_descriptors(struct msghdr& message) {
    std::vector<Fd> descriptors;
    for (struct cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            descriptors.emplace_back(descriptor);
        }
    }
    return descriptors;
}

Result<PassedDescriptors> receive_descriptors(int socket) {
    std::string note(kLongestNote, '\0');
    struct iovec place = {note.data(), note.size()};
    ControlData control = {};
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    ssize_t got = 0;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return system_error("receive descriptors", errno);
    PassedDescriptors passed;
    passed.note = note.substr(0, static_cast<size_t>(got));
    passed.descriptors = passed_descriptors(message);
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return Error{.what = "passed descriptors were cut off"};
    return passed;
}

Fd open_pidfd(pid_t process) {
    auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    return Fd(descriptor < 0 ? -errno : descriptor);
}

bool send_signal(const Fd& pidfd, int signal) {
    return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
}

}  // namespace base
