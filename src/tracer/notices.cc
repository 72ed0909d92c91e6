// SPDX-License-Identifier: MIT
#include "tracer/notices.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tracer {
namespace {

// The woken process continues on the same processor, which halves the cost of a notification (Linux 6.6).
constexpr uint64_t kSyncWakeUp = 1;
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);

struct seccomp_notif_sizes message_sizes() {
    struct seccomp_notif_sizes sizes = {};
    ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    return sizes;
}

}  // namespace

template <typename T>
Message<T>::Message(size_t size) : words_(std::max(size, sizeof(T)) / sizeof(uint64_t) + 1) {}

template <typename T>
T& Message<T>::cleared() {
    std::ranges::fill(words_, 0);
    return *reinterpret_cast<T*>(words_.data());
}

Notices::Notices(base::Fd listener) : Notices(std::move(listener), message_sizes()) {}

Notices::Notices(base::Fd listener, const struct seccomp_notif_sizes& sizes)
    : listener_(std::move(listener)), notice_(sizes.seccomp_notif), response_(sizes.seccomp_notif_resp) {
    ::ioctl(listener_.get(), kSetFlags, kSyncWakeUp);
}

std::optional<struct seccomp_notif> Notices::next() {
    struct pollfd ready = {listener_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 0) <= 0 || !(ready.revents & POLLIN)) return std::nullopt;
    struct seccomp_notif& notice = notice_.cleared();
    // Fails if the calling process was killed meanwhile.
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) return std::nullopt;
    return notice;
}

int Notices::let_go_on(uint64_t id) {
    struct seccomp_notif_resp& response = response_.cleared();
    response.id = id;
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 ? 0 : errno;
}

int Notices::answer(uint64_t id, int value, int error) {
    struct seccomp_notif_resp& response = response_.cleared();
    response.id = id;
    response.val = value;
    response.error = -error;
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 ? 0 : errno;
}

}  // namespace tracer
