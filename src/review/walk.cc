// SPDX-License-Identifier: MIT
#include "review/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/no_links.h"

namespace review {
namespace {

constexpr size_t kLargeFile = 1u << 20;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

// Some file systems do not say in the directory what an entry is.
bool is_directory_entry(int directory, const dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat status;
    return ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

std::vector<Name> names_in(const base::Path& directory) {
    std::vector<Name> names;
    base::Fd fd(base::open_without_links(directory, O_RDONLY | O_DIRECTORY));
    if (!fd) return names;
    std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(fd.get()));
    if (!stream) return names;
    fd.release();
    while (const dirent* entry = ::readdir(stream.get())) {
        std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        names.push_back({std::string(name), is_directory_entry(::dirfd(stream.get()), *entry)});
    }
    std::ranges::sort(names, {}, &Name::text);
    return names;
}

std::optional<struct stat> look_at(const base::Path& path) {
    base::Fd fd(base::open_without_links(path.parent(), O_PATH | O_DIRECTORY));
    struct stat status;
    if (!fd || ::fstatat(fd.get(), std::string(path.name()).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return std::nullopt;
    return status;
}

bool is_directory(const base::Path& path) {
    std::optional<struct stat> status = look_at(path);
    return status && S_ISDIR(status->st_mode);
}

bool is_file(const base::Path& path) {
    std::optional<struct stat> status = look_at(path);
    return status && S_ISREG(status->st_mode);
}

bool has_changed(const struct stat& status, const timespec& since) {
    const timespec& changed = status.st_ctim;
    return changed.tv_sec != since.tv_sec ? changed.tv_sec > since.tv_sec : changed.tv_nsec >= since.tv_nsec;
}

std::optional<std::string> content_of(const base::Path& file) {
    // A pipe in the place of the file must not hold us up.
    base::Fd fd(base::open_without_links(file, O_RDONLY | O_NONBLOCK));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    base::Result<std::string> content = base::read_descriptor(fd.get(), kLargeFile);
    return content ? std::optional(*std::move(content)) : std::nullopt;
}

}  // namespace review
