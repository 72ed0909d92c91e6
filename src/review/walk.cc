// SPDX-License-Identifier: MIT
#include "review/walk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/no_links.h"

namespace review {
namespace {

// Some file systems do not report the type of an entry in the directory.
Name name_of(int directory, const struct dirent64& entry) {
    Name name{
        .text = entry.d_name, .is_directory = entry.d_type == DT_DIR, .is_link = entry.d_type == DT_LNK};
    struct stat status;
    if (entry.d_type == DT_UNKNOWN && ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        name.is_directory = S_ISDIR(status.st_mode);
        name.is_link = S_ISLNK(status.st_mode);
    }
    return name;
}

}  // namespace

bool visit_names(const base::Path& directory, const std::function<bool(const Name&)>& visit) {
    int opened = base::open_without_links(directory, O_RDONLY | O_DIRECTORY);
    if (opened < 0) return opened == -ENOENT || opened == -ENOTDIR || opened == -ELOOP;
    base::Fd fd(opened);
    return base::visit_entries(fd.get(),
                               [&](const struct dirent64& entry) { return visit(name_of(fd.get(), entry)); });
}

std::optional<std::vector<Name>> names_in(const base::Path& directory) {
    std::vector<Name> names;
    bool is_whole = visit_names(directory, [&](const Name& name) {
        names.push_back(name);
        return true;
    });
    if (!is_whole) return std::nullopt;
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

std::optional<std::string> content_of(const base::Path& file, size_t limit) {
    // O_NONBLOCK: a FIFO in place of the file must not block us.
    base::Fd fd(base::open_without_links(file, O_RDONLY | O_NONBLOCK));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    base::Result<std::string> content = base::read_descriptor(fd.get(), limit);
    return content ? std::optional(*std::move(content)) : std::nullopt;
}

std::optional<base::Path> physical(const std::string& path) {
    std::unique_ptr<char, decltype(&::free)> text(::realpath(path.c_str(), nullptr), &::free);
    if (!text) return std::nullopt;
    base::Result<base::Path> parsed = base::Path::parse(text.get());
    return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

}  // namespace review
