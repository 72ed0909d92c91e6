// SPDX-License-Identifier: MIT
// Threat: /tmp is everybody's. A directory that is there already is somebody else's idea, and refused; ours
// is for its owner alone, and nothing in it is reached by a path that another user could change.
#include "session/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/own_place.h"
#include "base/remove_tree.h"

namespace session {
namespace {

base::Status make_directory(int parent, const std::string& name, mode_t mode) {
    if (::mkdirat(parent, name.c_str(), mode) == 0 || errno == EEXIST) return base::success();
    return base::system_error("make " + name + " in the session's directory", errno);
}

base::Status write_file(int place, const plan::PlacedFile& file) {
    int mode = file.is_executable ? 0500 : 0400;
    base::Fd made(::openat(place, file.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!made) return base::system_error("make " + file.name + " in the session's directory", errno);
    return base::write_all(made.get(), file.content);
}

}  // namespace

base::Status Place::make(const plan::Place& wanted) {
    if (wanted.directory.is_root()) return base::success();
    const std::string& path = wanted.directory.str();
    if (::mkdir(path.c_str(), 0700) != 0) {
        base::Error error = base::system_error("make the session's directory " + path, errno);
        error.advice = "/tmp must be a directory that you can write";
        return error;
    }
    path_ = path;
    base::Fd place(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!place) return base::system_error("open the session's directory " + path, errno);
    for (std::string_view name : {base::kStubs, base::kTemporary}) {
        if (base::Status made = make_directory(place.get(), std::string(name), 0700); !made) return made;
    }
    for (const plan::PlacedFile& file : wanted.files) {
        if (base::Status made = write_file(place.get(), file); !made) return made;
    }
    for (const plan::PlacedLink& link : wanted.links) {
        if (::symlinkat(link.target.c_str(), place.get(), link.name.c_str()) != 0)
            return base::system_error("make " + link.name + " in the session's directory", errno);
    }
    return base::success();
}

void Place::remove() {
    if (path_.empty()) return;
    base::remove_tree(path_);
    path_.clear();
}

}  // namespace session
