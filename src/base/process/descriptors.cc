// SPDX-License-Identifier: MIT
#include "base/process/descriptors.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

}  // namespace base
