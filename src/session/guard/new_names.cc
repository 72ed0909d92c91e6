// SPDX-License-Identifier: MIT
// Theory of operation. A session watches a name if it was missing at its start, or if another session that
// runs watches it. Each holds a shared lock on a byte of the file "unheld", by a hash of the path; the locks
// belong to the open file, so that the keeper has them after a kill of the supervisor, and the kernel drops
// them with the last process.
//
//   byte 0          held exclusively, for a moment, by a session that ends
//   byte hash(path) held shared by each session that watches the path
//
// A session that ends drops its own locks first. So of several sessions that end at once, the last one moves
// the names. A file does not tell which process made it: what the user made outside meanwhile is moved, too.
//
// Threat: the jail puts a symbolic link in the place of a directory on the way, removes permissions, or
// exchanges names at the last moment (tests/jail/new_names.bats). Every component is opened relative to the
// project as it was opened before the launch, no link is followed, and the jail is dead.
#include "session/guard/new_names.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "session/guard/git_links.h"
#include "session/guard/trash.h"

namespace session {
namespace {

constexpr off_t kTurn = 0;

off_t lock_byte(const base::Path& path) {
    uint64_t hash = 14695981039346656037u;  // FNV-1a: the same in every version of the program
    for (unsigned char byte : path.str()) hash = (hash ^ byte) * 1099511628211u;
    return static_cast<off_t>(hash >> 2) + 1;
}

struct flock lock_on(short type, off_t first, off_t length = 1) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = first;
    lock.l_len = length;
    return lock;
}

bool set_name_lock(int file, short type, off_t first, off_t length = 1, bool waits = false) {
    struct flock lock = lock_on(type, first, length);
    int returned = 0;
    while ((returned = ::fcntl(file, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock)) != 0 && errno == EINTR)
        continue;
    return returned == 0;
}

bool is_held_by_others(int file, off_t byte) {
    struct flock lock = lock_on(F_WRLCK, byte);
    return ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::string unheld_file(const std::string& state_directory) {
    return state_directory + "/unheld";
}

base::Fd open_locks(const std::string& state_directory) {
    const std::string file = unheld_file(state_directory);
    auto open = [&] {
        return base::Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    };
    base::Fd locks = open();
    if (!locks && errno == ENOENT && base::make_directories(state_directory)) locks = open();
    return locks;
}

// A directory of the user whose mode the jail has changed is opened again: its content could not be seen.
base::Fd open_step(int directory, const std::string& name) {
    base::Fd opened(::openat(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    bool is_shut = opened && ::fstat(opened.get(), &status) == 0 && (status.st_mode & S_IRWXU) != S_IRWXU &&
                   status.st_uid == ::geteuid();
    if (is_shut) {
        const std::string path = "/proc/self/fd/" + std::to_string(opened.get());
        (void)!::chmod(path.c_str(), (status.st_mode & 07777) | S_IRWXU);
    }
    return opened;
}

// The project may have been moved meanwhile.
base::Path path_now(int directory, const base::Path& before) {
    char text[PATH_MAX];
    const std::string link = "/proc/self/fd/" + std::to_string(directory);
    ssize_t length = ::readlink(link.c_str(), text, sizeof text);
    if (length <= 0) return before;
    base::Result<base::Path> now = base::Path::parse({text, static_cast<size_t>(length)});
    return now ? *std::move(now) : before;
}

bool is_empty_directory(int parent, const std::string& name) {
    base::Fd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    bool is_empty = static_cast<bool>(fd);
    return fd && base::visit_entries(fd.get(), [&](const struct dirent64&) { return is_empty = false; }) &&
           is_empty;
}

}  // namespace

NewNames::NewNames(const plan::Plan& plan, const std::string& state_directory, std::string session)
    : state_directory_(state_directory),
      session_(std::move(session)),
      project_path_(plan.project),
      is_layered_(plan.is_layered) {
    if (plan.unheld_names.empty()) return;
    // The kernel's time of files lags behind by one tick.
    ::clock_gettime(CLOCK_REALTIME_COARSE, &since_);
    locks_ = open_locks(state_directory);
    for (const plan::UnheldName& name : plan.unheld_names) {
        const off_t byte = lock_byte(name.path);
        bool is_new = name.first_missing || (locks_ && is_held_by_others(locks_.get(), byte));
        if (!is_new) continue;
        if (locks_) set_name_lock(locks_.get(), F_RDLCK, byte);
        names_.push_back({name.path, name.first_missing.value_or(name.path), name.reason.why});
    }
    project_ = base::Fd(base::open_without_links(plan.project, O_PATH | O_DIRECTORY));
}

// Git needs a file.
bool NewNames::is_file_there(const std::string& name) const {
    struct stat status;
    return ::fstatat(project_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           !S_ISDIR(status.st_mode);
}

// Threat: the jail removes its permission to write in the project, so that nothing can be moved out, or puts
// a directory where later files go (tests/jail/bare.bats).
void NewNames::take_early(const Name& name) {
    constexpr int kMostAside = 16;
    constexpr const char* kLaterOnes = ".agent-sandbox-moved";
    const std::string here(name.path.name());
    const OpenForMove opened(project_.get());
    // Threat: a jail that makes the file again and again would fill the state directory.
    if (early_moves_ > kMostAside) {
        if (::renameat(project_.get(), here.c_str(), project_.get(), kLaterOnes) != 0)
            ::unlinkat(project_.get(), here.c_str(), 0);
        return;
    }
    const base::Path project = path_now(project_.get(), project_path_);
    (void)AsideStore(state_directory_)
        .take(project_.get(), {.path = project / here,
                               .project = project,
                               .why = name.why,
                               .session = session_,
                               .time = static_cast<int64_t>(::time(nullptr))});
}

NewNames::EarlyMove NewNames::move_now(const base::Path& path) {
    constexpr int kMostMoves = 64;
    auto name = std::ranges::find(names_, path, &Name::path);
    if (!project_ || name == names_.end() || path.parent() != project_path_) return EarlyMove::nothing;
    const std::string here(path.name());
    if (!is_file_there(here)) return EarlyMove::nothing;
    ++early_moves_;
    take_early(*name);
    if (early_moves_ == kMostMoves) return EarlyMove::too_often;
    return is_file_there(here) ? EarlyMove::left : EarlyMove::moved;
}

std::vector<MovedName> NewNames::move_away(const std::vector<backends::Cover>& covers) {
    std::vector<MovedName> moved;
    if (!project_) return moved;
    if (locks_) {
        set_name_lock(locks_.get(), F_WRLCK, kTurn, 1, true);
        set_name_lock(locks_.get(), F_UNLCK, kTurn + 1, 0);
    }
    const base::Path project = path_now(project_.get(), project_path_);
    {
        // Its mode, too, may be the jail's.
        const OpenForMove opened(project_.get());
        for (const Name& name : names_) move_one(name, project, moved);
        if (!is_layered_) move_links(project, covers, moved);
    }
    // The keeper has the same open file, so closing it does not drop the lock.
    if (locks_) set_name_lock(locks_.get(), F_UNLCK, kTurn);
    project_.reset();
    locks_.reset();
    names_.clear();
    return moved;
}

void NewNames::move_links(const base::Path& project, const std::vector<backends::Cover>& covers,
                          std::vector<MovedName>& moved) const {
    std::vector<MovedName> links = move_git_links({.project = project_.get(),
                                                   .path = project,
                                                   .since = since_,
                                                   .others = git_directories(covers),
                                                   .state_directory = state_directory_,
                                                   .session = session_});
    std::ranges::move(links, std::back_inserter(moved));
}

void NewNames::move_one(const Name& name, const base::Path& project, std::vector<MovedName>& moved) {
    base::Fd step(::fcntl(project_.get(), F_DUPFD_CLOEXEC, 3));
    base::Path place = project_path_;
    for (std::string_view component : base::split(name.path.relative_to(project_path_), '/')) {
        const std::string here(component);
        place = place / component;
        struct stat status;
        if (::fstatat(step.get(), here.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
        // A link on the way leads a tool to the same name elsewhere: the link itself is moved.
        bool is_found = place == name.path || S_ISLNK(status.st_mode);
        if (!is_found && !S_ISDIR(status.st_mode)) return;
        if (is_found) {
            if (is_placeholder(step.get(), here, place)) return;
            if (locks_ && is_held_by_others(locks_.get(), lock_byte(name.path))) return;
            Aside about{.path = project / place.relative_to(project_path_),
                        .project = project,
                        .why = name.why,
                        .session = session_,
                        .time = static_cast<int64_t>(::time(nullptr))};
            MovedName taken = AsideStore(state_directory_).take(step.get(), std::move(about));
            if (!taken.place.is_root()) moved.push_back(std::move(taken));
            return remove_empty_parents(name);
        }
        step = open_step(step.get(), here);
        if (!step) return;
    }
}

// Directories that were missing at the start and contained only what has been moved.
void NewNames::remove_empty_parents(const Name& name) const {
    const std::string project = "/proc/self/fd/" + std::to_string(project_.get());
    for (base::Path above = name.path.parent(); above.is_within(name.first_missing); above = above.parent()) {
        const std::string relative(above.relative_to(project_path_));
        if (::rmdir((project + "/" + relative).c_str()) != 0) return;
    }
}

// Of another session, which was started when the user had a tool for this name. It removes it when it ends.
bool NewNames::is_placeholder(int parent, const std::string& name, const base::Path& path) const {
    bool may_be = is_empty_directory(parent, name) ||
                  look_at_placeholder_file(parent, name.c_str()) == Occupant::placeholder;
    if (!may_be) return false;
    base::Result<std::string> record = base::read_file(state_directory_ + "/placeholders");
    if (!record) return false;
    for (std::string_view known : base::split(*record, '\0')) {
        if (known == path.str()) return true;
    }
    return false;
}

bool NewNames::is_watched(const std::string& state_directory, const base::Path& path) {
    base::Fd locks(::open(unheld_file(state_directory).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    return locks && is_held_by_others(locks.get(), lock_byte(path));
}

}  // namespace session
