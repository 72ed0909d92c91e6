// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "host/tree.h"

namespace host {
namespace {

Kind kind_of_mode(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return Kind::file;
        case S_IFDIR:
            return Kind::directory;
        case S_IFLNK:
            return Kind::symlink;
        case S_IFSOCK:
            return Kind::socket;
        case S_IFCHR:
        case S_IFBLK:
            return Kind::device;
        default:
            return Kind::other;
    }
}

std::optional<Node> look_on_disk(const base::Path& path) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
    Node node{.kind = kind_of_mode(status.st_mode),
              .mode = status.st_mode & 07777u,
              .owner = status.st_uid,
              .group = status.st_gid};
    if (node.kind != Kind::symlink) return node;

    char text[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    if (length <= 0) return std::nullopt;
    node.link.assign(text, static_cast<size_t>(length));
    return node;
}

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

// Some file systems do not say in the directory what an entry is.
Kind kind_of_entry(int directory, const dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return kind_of_mode(DTTOIF(entry.d_type));
    struct stat status;
    bool is_seen = ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    return is_seen ? kind_of_mode(status.st_mode) : Kind::other;
}

}  // namespace

std::optional<Node> DiskTree::look(const base::Path& path) const {
    auto [place, is_new] = seen_.try_emplace(path);
    if (is_new) place->second = look_on_disk(path);
    return place->second;
}

std::vector<Entry> DiskTree::list(const base::Path& directory) const {
    std::vector<Entry> entries;
    std::unique_ptr<DIR, CloseDirectory> stream(::opendir(directory.c_str()));
    if (!stream) return entries;
    while (const dirent* entry = ::readdir(stream.get())) {
        std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        entries.push_back({std::string(name), kind_of_entry(::dirfd(stream.get()), *entry)});
    }
    std::ranges::sort(entries, {}, &Entry::name);
    return entries;
}

base::Result<std::string> DiskTree::read(const base::Path& file, size_t limit) const {
    return base::read_file(file.str(), limit);
}

bool DiskTree::may_write(const base::Path& path) const {
    return ::access(path.c_str(), W_OK) == 0;
}

}  // namespace host
