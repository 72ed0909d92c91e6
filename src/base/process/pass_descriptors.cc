// SPDX-License-Identifier: MIT
#include "base/process/pass_descriptors.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace base {
namespace {

// Aligned as struct cmsghdr requires.
union ControlData {
    std::array<char, CMSG_SPACE(kMostPassed * sizeof(int))> bytes;
    struct cmsghdr alignment;
};

}  // namespace

Status send_descriptors(int socket, std::string_view note, std::span<const int> descriptors) {
    if (note.empty() || note.size() > kLongestNote || descriptors.size() > kMostPassed) {
        return Error{.what = "cannot pass that many descriptors at once"};
    }
    struct iovec place = {const_cast<char*>(note.data()), note.size()};
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
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return system_error("pass descriptors", errno);
    return success();
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
    for (struct cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            passed.descriptors.emplace_back(descriptor);
        }
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return Error{.what = "passed descriptors were cut off"};
    return passed;
}

}  // namespace base
