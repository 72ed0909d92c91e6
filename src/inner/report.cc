// SPDX-License-Identifier: MIT
#include "inner/report.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace inner {

void send_report(const LaunchSpec& spec, const Report& report) {
    std::string frame = encode(report);
    // MSG_NOSIGNAL: if the supervisor has exited, the next read shows it.
    (void)!::send(spec.control, frame.data(), frame.size(), MSG_NOSIGNAL);
}

int send_report_with(const LaunchSpec& spec, const Report& report, std::span<const int> descriptors) {
    std::string frame = encode(report);
    struct iovec content = {frame.data(), frame.size()};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(kMostReported * sizeof(int))] = {};
    struct msghdr message = {};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = extra;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    ssize_t sent = ::sendmsg(spec.control, &message, MSG_NOSIGNAL);
    if (sent < 0) return errno;
    return sent == static_cast<ssize_t>(frame.size()) ? 0 : EPIPE;
}

int report_failure(const LaunchSpec& spec, std::string_view step, std::string_view object, int number) {
    send_report(spec, Report{.kind = Report::Kind::failed,
                             .number = number,
                             .step = std::string(step),
                             .object = std::string(object)});
    return static_cast<int>(base::ExitCode::jail_failed);
}

}  // namespace inner
