// SPDX-License-Identifier: MIT
// Theory of operation. After a notice the supervisor does not read the socket for a second. A jail that
// floods it fills the kernel's short queue and then waits itself, at no cost to us. Only the last of the
// queued notices is shown.
#include "session/helpers/notices.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "session/helpers/notice.h"

namespace session {
namespace {

constexpr std::chrono::seconds kRest{1};
constexpr int kMostAtOnce = 1024;  // more than the queue holds

constexpr size_t kMostMailers = 16;

struct Gathered {
    std::optional<std::string> notice;  // the last one
    std::vector<std::string> mailers;   // each once
};

// The kernel closes descriptors that come with a datagram, because recv has no buffer for them.
Gathered gather(int socket) {
    Gathered gathered;
    char bytes[kLargestNotice];
    for (int count = 0; count < kMostAtOnce; ++count) {
        ssize_t got = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        std::string text(bytes, static_cast<size_t>(got));
        if (!text.starts_with(kMailMark)) {
            gathered.notice = std::move(text);
            continue;
        }
        text.erase(0, kMailMark.size());
        bool is_new = std::ranges::find(gathered.mailers, text) == gathered.mailers.end();
        if (is_new && gathered.mailers.size() < kMostMailers) gathered.mailers.push_back(std::move(text));
    }
    return gathered;
}

}  // namespace

void Notices::open(const std::string& directory, const std::string& name) {
    rings_ = has_terminal();
    (void)socket_.open(directory, name, SOCK_DGRAM);
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

std::vector<std::string> Notices::take(Clock::time_point now) {
    Gathered gathered = gather(socket_.get());
    if (gathered.notice && rings_) ring_terminal(*gathered.notice);
    if (gathered.notice || !gathered.mailers.empty()) rests_until_ = now + kRest;
    return std::move(gathered.mailers);
}

std::vector<std::string> Notices::finish() {
    if (!socket_) return {};
    std::vector<std::string> mailers = take(Clock::now());
    socket_.close();
    return mailers;
}

}  // namespace session
