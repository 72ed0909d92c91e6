// SPDX-License-Identifier: MIT
// Descriptors: the table of this process, the wait for one of them, descriptors that are passed to another
// process, and pidfds.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace base {

// The descriptor table of this process: a process must not inherit a descriptor that the caller left open and
// that it does not need.

// Closes every descriptor except these.
void close_others(std::vector<int> kept);

// Sets close-on-exec on every descriptor from 3 upwards except these.
void inherit_only(const std::vector<int>& kept);

// Opens /dev/null for each of 0, 1 and 2 that is closed. Otherwise a file that we open could become the
// standard output of another process. False on failure.
bool fill_standard_descriptors();

// Waits until a descriptor has one of the events of poll(2), is hung up or has failed. Returns what is ready;
// 0: nothing within this time, or the wait failed, with ETIMEDOUT or its reason in errno. A process that
// waits for several descriptors has an event loop (event_loop.h).
short await_events(int fd, short events, std::chrono::steady_clock::time_point deadline);
// A negative time has no end.
short await_events(int fd, short events, std::chrono::milliseconds longest);
// With another signal mask while it waits. A signal ends the wait, with EINTR.
short await_events(int fd, short events, std::chrono::milliseconds longest, const sigset_t& mask);
// What is ready now.
inline short ready_events(int fd, short events) {
    return await_events(fd, events, std::chrono::milliseconds(0));
}

// Passes open descriptors from one process to another, over a Unix socket that preserves message boundaries
// (SOCK_SEQPACKET).

// The kernel accepts no more in one message (SCM_MAX_FD).
inline constexpr size_t kMostPassed = 253;
inline constexpr size_t kLongestNote = 4096;

// Sends content and descriptors with one sendmsg(2) and these flags, besides MSG_NOSIGNAL. Zero or an errno.
int send_with_descriptors(int socket, std::string_view content, std::span<const int> descriptors, int flags);
// The descriptors of a message that recvmsg(2) returned.
std::vector<Fd> passed_descriptors(struct msghdr& message);

// Sends one message: a note, which must not be empty, and descriptors.
Status send_descriptors(int socket, std::string_view note, std::span<const int> descriptors);

struct PassedDescriptors {
    std::string note;  // empty: the other end is closed
    std::vector<Fd> descriptors;
};
// The descriptors have close-on-exec. A truncated note or descriptor list is an error.
Result<PassedDescriptors> receive_descriptors(int socket);

// A pidfd refers to one process for good, even if its number is used again. It is readable when the process
// has ended.

// Negative, with the value minus errno, if it can't be opened. Before Linux 5.3 there are no pidfds (ENOSYS).
Fd open_pidfd(pid_t process);

bool send_signal(const Fd& pidfd, int signal);

}  // namespace base
