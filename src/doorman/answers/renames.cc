// SPDX-License-Identifier: MIT
#include "doorman/answers/renames.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "doorman/answered_calls.h"

namespace doorman {
namespace {

struct Argument {
    int directory = AT_FDCWD;
    uint64_t path = 0;  // an address in the caller's memory
};

struct Place {
    base::Fd directory;
    std::string name;
};

int open_below(int start, const std::string& path, uint64_t resolve) {
    struct open_how how = {};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
    return static_cast<int>(::syscall(kOpenat2, start, path.c_str(), &how, sizeof how));
}

base::Fd open_start(const Caller& caller, int directory) {
    if (directory == AT_FDCWD)
        return base::Fd(::open(caller.file("cwd").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    base::Fd taken;
    (void)caller.take_descriptor(directory, taken);
    return taken;
}

// A relative path with a symbolic link is not resolved: an absolute link would lead from our root directory
// and not from the caller's.
Place find(const Caller& caller, const Argument& argument, const std::string& path) {
    Place place;
    const size_t slash = path.rfind('/');
    place.name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (place.name.empty() || place.name == "." || place.name == "..") return place;
    if (path.front() == '/') {
        base::Fd root(::open(caller.file("root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (root)
            place.directory = base::Fd(open_below(root.get(), path.substr(0, slash + 1), RESOLVE_IN_ROOT));
        return place;
    }
    base::Fd start = open_start(caller, argument.directory);
    if (!start) return place;
    const std::string above = slash == std::string::npos ? "." : path.substr(0, slash);
    place.directory = base::Fd(open_below(start.get(), above, RESOLVE_NO_SYMLINKS));
    return place;
}

std::string_view name_in(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

Answer answer_rename(const Caller& caller, const Hooks& hooks) {
    const bool is_plain = caller.call() == kRename;
    const Argument from = is_plain ? Argument{.path = caller.argument(0)}
                                   : Argument{.directory = caller.number(0), .path = caller.argument(1)};
    const Argument to = is_plain ? Argument{.path = caller.argument(1)}
                                 : Argument{.directory = caller.number(2), .path = caller.argument(3)};
    std::string new_path;
    bool is_read = caller.read_text(to.path, PATH_MAX, new_path) == 0;
    if (!is_read || !hooks.on_rename || !hooks.is_judged_name(name_in(new_path))) return Answer::proceed();
    std::string old_path;
    if (caller.read_text(from.path, PATH_MAX, old_path) != 0 || old_path.empty()) return Answer::proceed();
    Place old_place = find(caller, from, old_path), new_place = find(caller, to, new_path);
    if (!old_place.directory || !new_place.directory) return Answer::proceed();
    // Until here the pid may have belonged to another process.
    if (!caller.is_waiting()) return Answer::of(EINTR);
    return hooks.on_rename({.from_directory = old_place.directory.get(),
                            .from_name = std::move(old_place.name),
                            .to_directory = new_place.directory.get(),
                            .to_name = std::move(new_place.name)});
}

Answer answer_removal(const Caller& caller, const Hooks& hooks) {
    const bool has_directory = caller.call() == SYS_unlinkat;
    const Argument removed = has_directory
                                 ? Argument{.directory = caller.number(0), .path = caller.argument(1)}
                                 : Argument{.path = caller.argument(0)};
    const bool is_rmdir = has_directory ? (caller.number(2) & AT_REMOVEDIR) != 0 : caller.call() == kRmdir;
    std::string path;
    bool is_read = hooks.on_removal && caller.read_text(removed.path, PATH_MAX, path) == 0;
    if (!is_read || !hooks.is_judged_removal(name_in(path), is_rmdir)) return Answer::proceed();
    Place place = find(caller, removed, path);
    if (!place.directory) return Answer::proceed();
    if (!caller.is_waiting()) return Answer::of(EINTR);
    return hooks.on_removal({.directory = place.directory.get(),
                             .name = std::move(place.name),
                             .is_rmdir = is_rmdir,
                             .thread = caller.thread()});
}

}  // namespace doorman
