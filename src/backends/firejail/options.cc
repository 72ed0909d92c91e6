// SPDX-License-Identifier: MIT
#include "backends/firejail/options.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/file.h"

namespace backends::firejail {
namespace {

// The newest ones; the oldest firejail that is still in use has all others.
constexpr std::string_view kNeeded[] = {"--keep-fd=", "--noinput", "--ipc-namespace", "--tab"};

base::Error too_old(std::string_view option) {
    return base::Error{.what = "this firejail does not know " + std::string(option),
                       .advice = "version 0.9.68 or later is needed; or use another backend"};
}

}  // namespace

base::Status knows_options(const std::string& program) {
    base::Fd fd(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
    // Executable but not readable: firejail itself has to report a missing option.
    if (!fd && errno == EACCES) return base::success();
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0) return base::system_error("read " + program, errno);
    auto size = static_cast<size_t>(status.st_size);
    if (size == 0) return too_old(kNeeded[0]);
    void* place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd.get(), 0);
    if (place == MAP_FAILED) return base::system_error("read " + program, errno);
    base::Status known = base::success();
    for (std::string_view option : kNeeded) {
        if (::memmem(place, size, option.data(), option.size()) == nullptr) known = too_old(option);
    }
    ::munmap(place, size);
    return known;
}

}  // namespace backends::firejail
