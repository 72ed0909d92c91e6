// SPDX-License-Identifier: MIT
// Theory of operation. After a notice the socket is not looked at for a second; a jail that floods it fills
// the kernel's short queue and then waits itself, at no cost to us. Of what has gathered, the last is told.
#include "session/notices.h"

#include <sys/socket.h>

#include <cerrno>
#include <optional>

#include "session/notice.h"

namespace session {
namespace {

constexpr std::chrono::seconds kRest{1};
constexpr int kMostAtOnce = 1024;  // more than the queue holds

// Descriptors that come with a datagram are closed by the kernel: there is no room for them.
std::optional<std::string> last_of(int socket) {
    std::optional<std::string> last;
    char bytes[kLargestNotice];
    for (int count = 0; count < kMostAtOnce; ++count) {
        ssize_t got = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        last = std::string(bytes, static_cast<size_t>(got));
    }
    return last;
}

}  // namespace

void Notices::open(const std::string& directory, const std::string& name) {
    if (has_terminal()) (void)socket_.open(directory, name, SOCK_DGRAM);
}

int Notices::events(Clock::time_point now) const {
    return now < rests_until_ ? -1 : socket_.get();
}

int Notices::wait(Clock::time_point now) const {
    if (!socket_ || now >= rests_until_) return -1;
    return static_cast<int>(
               std::chrono::duration_cast<std::chrono::milliseconds>(rests_until_ - now).count()) +
           1;
}

void Notices::take(Clock::time_point now) {
    std::optional<std::string> notice = last_of(socket_.get());
    if (!notice) return;
    ring_terminal(*notice);
    rests_until_ = now + kRest;
}

void Notices::finish() {
    if (!socket_) return;
    take(Clock::now());
    socket_.close();
}

}  // namespace session
