// SPDX-License-Identifier: MIT
// Access to files below an open directory. A jailed process has written some of these trees, so no symbolic
// link is followed, and neither `..` nor a mount point leads out of the tree. A path is relative, without a
// leading slash; "" is the directory itself.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace layers {

// open(2) with these flags and O_CLOEXEC; the descriptor or minus errno. EXDEV: another file system is
// mounted on the way. Needs Linux 5.6 (openat2).
int open_below(int root, const std::string& path, int flags);

// The directory that contains the last component, and its name. For "" the name is ".".
struct Place {
    base::Fd directory;
    std::string name;
    int error = 0;  // errno if the directory could not be opened
};
Place place_of(int root, const std::string& path);

// Zero, or errno. A missing directory on the way is ENOENT.
int look(int root, const std::string& path, struct stat& status);

// Names in a directory, sorted.
base::Result<std::vector<std::string>> names_in(int root, const std::string& path);

std::string join(std::string_view directory, std::string_view name);
// The part before the last slash; "" for a name without one.
std::string parent_of(std::string_view path);
// Whether `path` is `ancestor` or below it.
bool is_within(std::string_view path, std::string_view ancestor);

base::Result<std::string> link_target(int root, const std::string& path);

// Nanoseconds since 1970.
int64_t nanoseconds(const struct timespec& time);

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

// Whether two open files have the same bytes. Reads no holes: a sparse file may be larger than any disk. Zero
// or one, or minus errno: ETIME after `end`.
int have_same_bytes(int first, int second, const Deadline& end = std::nullopt);

// Copies the bytes: shares them where the file system can, and keeps holes. Zero, or errno: ETIME after
// `deadline`.
int copy_bytes(int from, int to, uint64_t size, const Deadline& deadline = std::nullopt);

// Copies extended attributes of the user, except the kernel's own marks of an overlay, and POSIX ACLs. Zero,
// or errno.
int copy_attributes(int from, int to);

// Sets the mode of the file or directory itself; not of a link. Zero, or errno.
int set_mode(int root, const std::string& path, mode_t mode);

// Lets the owner read an entry that has no permissions for that, until this object ends. Only for trees that
// no process uses.
class MadeReadable {
  public:
    MadeReadable(int root, const std::string& path, const struct stat& status);
    ~MadeReadable();
    MadeReadable(const MadeReadable&) = delete;
    MadeReadable& operator=(const MadeReadable&) = delete;

  private:
    int root_;
    const std::string& path_;
    mode_t mode_;
    bool is_changed_ = false;
};

// openat2 takes paths up to PATH_MAX.
inline constexpr size_t kLongestPath = 3800;

// overlayfs stores a deletion as a character device 0:0.
bool is_whiteout(const struct stat& status);

}  // namespace layers
