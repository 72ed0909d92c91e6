// SPDX-License-Identifier: MIT
// Open descriptors from one process to another, over a Unix socket that keeps messages apart
// (SOCK_SEQPACKET).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace base {

// The kernel takes no more in one message.
inline constexpr size_t kMostPassed = 253;
inline constexpr size_t kLongestNote = 4096;

// One message: a note, never empty, and descriptors.
Status send_descriptors(int socket, std::string_view note, std::span<const int> descriptors);

struct PassedDescriptors {
    std::string note;  // empty: the other end is closed
    std::vector<Fd> descriptors;
};
// They are closed by exec. A note or descriptors that did not fit are an error.
Result<PassedDescriptors> receive_descriptors(int socket);

}  // namespace base
