// SPDX-License-Identifier: MIT
#include "session/guard/placeholder_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/file.h"
#include "base/inside/neutral_files.h"

namespace session {
namespace {

constexpr mode_t kMode = 0444;

int write_content(int fd, std::string_view content) {
    return content.empty() || base::write_all(fd, content) ? 0 : EIO;
}

int make_in_place(int parent, const char* name, std::string_view content) {
    base::Fd file(::openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
    return file ? write_content(file.get(), content) : errno;
}

}  // namespace

int make_placeholder_file(int parent, const char* name, std::string_view content) {
    base::Fd file(::openat(parent, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, kMode));
    // Not every file system supports O_TMPFILE.
    if (!file) return make_in_place(parent, name, content);
    if (int number = write_content(file.get(), content)) return number;
    std::string nameless = "/proc/self/fd/" + std::to_string(file.get());
    if (::linkat(AT_FDCWD, nameless.c_str(), parent, name, AT_SYMLINK_FOLLOW) == 0) return 0;
    return errno == EEXIST ? EEXIST : make_in_place(parent, name, content);
}

bool is_placeholder_file(int parent, const char* name) {
    base::Fd file(::openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    char bytes[512];  // more than any of them
    ssize_t got = ::read(file.get(), bytes, sizeof bytes);
    std::string_view content(bytes, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return got >= 0 && std::ranges::find(base::kNeutralFiles, content) != std::end(base::kNeutralFiles);
}

}  // namespace session
