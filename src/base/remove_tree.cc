// SPDX-License-Identifier: MIT
// Theory of operation. A tree may be deeper than the longest path, the stack or the descriptor table allow.
// So this code never descends: it moves the subdirectories of a top-level directory up beside it, which
// leaves that directory empty. Each directory is moved once, and three are open at a time.
#include "base/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/file.h"

namespace base {
namespace {

Fd open_directory(int parent, const std::string& name) {
    return Fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> names_in(int directory) {
    std::vector<std::string> names;
    DIR* stream = ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 3));
    if (stream == nullptr) return names;
    ::rewinddir(stream);
    while (const struct dirent* entry = ::readdir(stream)) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(std::move(name));
    }
    ::closedir(stream);
    return names;
}

// The process that filled it may have removed its own permissions: restore them.
bool is_directory(int parent, const std::string& name) {
    struct stat status;
    bool is_so =
        ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
    if (is_so && (status.st_mode & S_IRWXU) != S_IRWXU) (void)!::fchmodat(parent, name.c_str(), S_IRWXU, 0);
    return is_so;
}

class Flattener {
  public:
    explicit Flattener(int top) : top_(top) {}

    // False: something can't be removed.
    bool empty() {
        for (std::vector<std::string> names; !(names = names_in(top_)).empty();) {
            bool is_progress = false;
            for (const std::string& name : names) is_progress = remove(name) || is_progress;
            if (!is_progress) return false;
        }
        return true;
    }

  private:
    bool remove(const std::string& name) {
        if (!is_directory(top_, name)) return ::unlinkat(top_, name.c_str(), 0) == 0;
        Fd directory = open_directory(top_, name);
        for (const std::string& entry : names_in(directory.get())) {
            if (is_directory(directory.get(), entry)) {
                move_up(directory.get(), entry);
            } else {
                ::unlinkat(directory.get(), entry.c_str(), 0);
            }
        }
        return ::unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0;
    }

    // Under a name that is free at the top; rename(2) may replace an empty directory.
    void move_up(int directory, const std::string& entry) {
        int returned = 0;
        do {
            std::string moved = ".removed." + std::to_string(++count_);
            returned = ::renameat(directory, entry.c_str(), top_, moved.c_str());
        } while (returned != 0 && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
    }

    int top_;
    unsigned long count_ = 0;
};

}  // namespace

void remove_tree(const std::string& path) {
    if (!is_directory(AT_FDCWD, path)) return;
    Fd top = open_directory(AT_FDCWD, path);
    if (top && Flattener(top.get()).empty()) ::rmdir(path.c_str());
}

}  // namespace base
