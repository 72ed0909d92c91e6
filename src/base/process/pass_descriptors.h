// SPDX-License-Identifier: MIT
// Passes open descriptors from one process to another, over a Unix socket that preserves message boundaries
// (SOCK_SEQPACKET).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace base {

// The kernel accepts no more in one message (SCM_MAX_FD).
inline constexpr size_t kMostPassed = 253;
inline constexpr size_t kLongestNote = 4096;

// Sends one message: a note, which must not be empty, and descriptors.
Status send_descriptors(int socket, std::string_view note, std::span<const int> descriptors);

struct PassedDescriptors {
    std::string note;  // empty: the other end is closed
    std::vector<Fd> descriptors;
};
// The descriptors have close-on-exec. A truncated note or descriptor list is an error.
Result<PassedDescriptors> receive_descriptors(int socket);

}  // namespace base
