// SPDX-License-Identifier: MIT
#include "tracer/status.h"

#include <sys/ioctl.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/file.h"

namespace tracer {
namespace {

// The first version of what PIDFD_GET_INFO fills.
struct Information {
    uint64_t mask;
    uint64_t group;
    uint32_t ids[11];
    int32_t exit_code;
};
constexpr uint64_t kExit = 1u << 3;
constexpr unsigned long kGetInformation = _IOWR(0xFF, 11, Information);

// The state is the first field after the name, which may contain any byte; the status is the last field.
std::optional<int> status_of_dead(pid_t process) {
    base::Result<std::string> text = base::read_file("/proc/" + std::to_string(process) + "/stat", 4096);
    if (!text) return std::nullopt;
    size_t name_end = text->rfind(')');
    if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
    char state = (*text)[name_end + 2];
    if (state != 'Z' && state != 'X') return std::nullopt;
    return std::atoi(text->c_str() + text->rfind(' ') + 1);
}

std::optional<int> status_of_reaped(int pidfd) {
    Information information = {};
    information.mask = kExit;
    bool is_known = ::ioctl(pidfd, kGetInformation, &information) == 0 && information.mask & kExit;
    return is_known ? std::optional<int>(information.exit_code) : std::nullopt;
}

}  // namespace

std::optional<int> kept_status(pid_t process, int pidfd) {
    // First the pidfd, which can't refer to another process.
    if (std::optional<int> status = status_of_reaped(pidfd)) return status;
    if (std::optional<int> status = status_of_dead(process)) return status;
    // It may have been reaped between the two calls.
    return status_of_reaped(pidfd);
}

}  // namespace tracer
