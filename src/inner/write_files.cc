// SPDX-License-Identifier: MIT
#include "inner/write_files.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

namespace inner {

void write_files(const std::vector<WrittenFile>& files) {
    for (const WrittenFile& one : files) {
        base::Result<base::Path> path = base::Path::parse(one.path);
        if (!path || !base::make_directories(path->parent().str(), 0755)) continue;
        ::unlink(path->c_str());
        if (one.is_link) {
            (void)!::symlink(one.content.c_str(), path->c_str());
            continue;
        }
        base::Fd file(::open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
        if (file) (void)base::write_all(file.get(), one.content);
    }
}

}  // namespace inner
