// SPDX-License-Identifier: MIT
// Theory of operation. One record in the state directory names every placeholder that a session of this user
// has made. A name is recorded before its directory is made, so that a crash leaves no unknown placeholder.
// The locks are on bytes of that record:
//
//   byte 0          held exclusively, for a moment, by a process that reads and changes the record
//   byte hash(path) held shared, for its life, by each session that needs the placeholder at path
//
// If a placeholder's byte can be locked exclusively, no session needs it, and it is removed. The locks belong
// to the open file (OFD locks): the kernel drops them when a session is killed, and a forked keeper shares
// them. Two paths with the same hash only wait for each other. The locks are necessary, because removing a
// directory on which a living jail has a mount would undo that mount (since Linux 3.18), and moving it would
// free its name. Only empty directories and files with neutral content are ever removed, whatever the record
// contains.
#include "session/guard/placeholders.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "session/guard/trash.h"

namespace session {
namespace {

// Walked backwards, the deepest come first: a parent sorts before its content.
using Names = std::set<base::Path>;
using Contents = Placeholders::Contents;

constexpr off_t kTable = 0;
constexpr off_t kFirstName = 1;
constexpr off_t kToTheEnd = 0;  // as the length of a range
// If the record has more names than this, a session checks only those of its own project.
constexpr size_t kCrowd = 500;
constexpr std::string_view kLeastName = "\1";  // sorts before every other in a directory

off_t byte_of(const base::Path& path) {
    uint64_t hash = 14695981039346656037u;  // FNV-1a: the same in every version of the program
    for (unsigned char byte : path.str()) hash = (hash ^ byte) * 1099511628211u;
    return static_cast<off_t>(hash >> 2) + kFirstName;
}

// Zero, or errno: EAGAIN if another session holds the lock, anything else if the file system can't lock.
int set_lock(int record, short type, off_t first, off_t length = 1, bool waits = false) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = first;
    lock.l_len = length;
    while (::fcntl(record, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

// What a placeholder's directory may contain.
enum class Content {
    none,
    of_the_jail,  // the placeholder was uncovered for a moment
    recorded      // a placeholder of another jail
};

// The record while this process has it locked. Names end with NUL.
class Table {
  public:
    explicit Table(int record) : record_(record), can_lock_(set_lock(record, F_WRLCK, kTable, 1, true) == 0) {
        ::lseek(record, 0, SEEK_SET);
        base::Result<std::string> content = base::read_descriptor(record);
        if (!content) return;
        for (std::string_view name : base::split(*content, '\0')) {
            if (base::Result<base::Path> path = base::Path::parse(name)) names.insert(*std::move(path));
        }
        before_ = names;
    }
    ~Table() {
        (void)write();
        if (can_lock_) set_lock(record_, F_UNLCK, kTable);
    }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    base::Status write() {
        if (names == before_) return base::success();
        std::string content;
        for (const base::Path& name : names) content += name.str() + '\0';
        ssize_t written = content.empty() ? 0 : ::pwrite(record_, content.data(), content.size(), 0);
        if (written != static_cast<ssize_t>(content.size()) || ::ftruncate(record_, written) != 0) {
            return base::system_error("write the record of placeholders", errno);
        }
        before_ = names;
        return base::success();
    }
    // Locks the names that no other session needs. Mostly no other session runs: then one call is enough.
    void lock_unneeded() { is_alone_ = can_lock_ && set_lock(record_, F_WRLCK, kFirstName, kToTheEnd) == 0; }
    bool is_alone() const { return is_alone_; }
    void expect_content(bool is_expected) { expected_ = is_expected ? Content::of_the_jail : Content::none; }
    // What a directory without deeper names in the record may contain.
    Content expected() const { return expected_; }
    // Without locks we can't find out whether another session needs a placeholder: nothing is ever removed.
    bool is_needed(const base::Path& path) const {
        return !is_alone_ && (!can_lock_ || set_lock(record_, F_WRLCK, byte_of(path)) != 0);
    }
    void let_go_of_all() { set_lock(record_, F_UNLCK, kFirstName, kToTheEnd); }
    void hold(const base::Path& path) { set_lock(record_, F_RDLCK, byte_of(path)); }

    Names names;

  private:
    int record_;
    bool can_lock_;
    bool is_alone_ = false;
    Content expected_ = Content::none;
    Names before_;
};

// The directory with this relative path, without a link on the way, or minus errno.
int open_below(int directory, std::string_view relative) {
    base::Fd current(::openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (std::string_view name : base::split(relative, '/')) {
        if (!current) break;
        if (name.empty() || name == ".") continue;
        int next =
            ::openat(current.get(), std::string(name).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) return -errno;
        current = base::Fd(next);
    }
    return current ? current.release() : -errno;
}

// A project and a descriptor of it. Names in it are looked up by the descriptor: the project may move at any
// moment, together with its placeholders, and what is at the old path then is not ours.
struct OpenedProject {
    const base::Path& path;
    int descriptor;  // below zero: none
};

// Most placeholders are in the same directory: it is opened once for all of them.
class ParentDirectories {
  public:
    explicit ParentDirectories(OpenedProject project) : project_(project) {}

    // The descriptor of the directory that contains `path`, or minus errno.
    int of(const base::Path& path) {
        base::Path parent = path.parent();
        if (auto known = open_.find(parent); known != open_.end()) return known->second.get();
        bool is_in_project = project_.descriptor >= 0 && parent.is_within(project_.path);
        base::Fd fd(is_in_project ? open_below(project_.descriptor, parent.relative_to(project_.path))
                                  : base::open_without_links(parent, O_PATH | O_DIRECTORY));
        if (!fd) return fd.get();
        if (open_.size() == kMost) open_.clear();
        return open_.emplace(std::move(parent), std::move(fd)).first->second.get();
    }

  private:
    static constexpr size_t kMost = 64;
    OpenedProject project_;
    std::map<base::Path, base::Fd> open_;
};

// Checked before a directory is moved: one with content must not vanish even for a moment.
bool is_empty_directory(int parent, const char* name) {
    base::Fd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    bool is_empty = static_cast<bool>(fd);
    bool is_read =
        fd && base::visit_entries(fd.get(), [&](const struct dirent64&) { return is_empty = false; });
    return is_read && is_empty;
}

// Whether a directory contains nothing. If its mtime equals its birth time, it never had content, unless that
// came in the same tick of the clock: then the trash gives it back. The directory is read if it may have
// content, or if the file system does not store the birth time.
bool is_unused(int parent, const char* name, const struct statx& status, bool may_have_content) {
    bool is_untouched = !may_have_content && (status.stx_mask & STATX_BTIME) != 0 &&
                        (status.stx_mask & STATX_MTIME) != 0 &&
                        status.stx_btime.tv_sec == status.stx_mtime.tv_sec &&
                        status.stx_btime.tv_nsec == status.stx_mtime.tv_nsec;
    return is_untouched || is_empty_directory(parent, name);
}

// Zero, or errno.
int ask(int parent, const char* name, struct statx& status) {
    constexpr unsigned kAsked = STATX_TYPE | STATX_BTIME | STATX_MTIME;
    if (::statx(parent, name, AT_SYMLINK_NOFOLLOW, kAsked, &status) == 0) return 0;
    // Old seccomp filters of containers refuse statx.
    struct stat plain;
    if (errno != EPERM || ::fstatat(parent, name, &plain, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    status.stx_mode = static_cast<uint16_t>(plain.st_mode);
    return 0;
}

bool is_absent(int number) {
    return number == ENOENT || number == ENOTDIR || number == ELOOP;
}

// The two below return true if the record can drop the name.
bool take_file_away(int parent, Trash& trash, const base::Path& path) {
    std::string name(path.name());
    switch (look_at_placeholder_file(parent, name.c_str())) {
        case Occupant::placeholder:
            return trash.take(parent, path) || ::unlinkat(parent, name.c_str(), 0) == 0;
        case Occupant::other:
            return true;
        case Occupant::unknown:
            return false;
    }
    return false;
}

bool take_away(ParentDirectories& parents, Trash& trash, const base::Path& path, Content content) {
    int parent = parents.of(path);
    if (parent < 0) return is_absent(-parent);
    std::string name(path.name());
    struct statx status = {};
    if (int number = ask(parent, name.c_str(), status)) {
        return is_absent(number) || ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0;
    }
    if (!S_ISDIR(status.stx_mode)) return take_file_away(parent, trash, path);
    if (is_unused(parent, name.c_str(), status, content != Content::none) && trash.take(parent, path)) {
        return true;
    }
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0) return true;
    switch (errno) {
        case ENOENT:
        case ENOTDIR:
            return true;
        // Another process put a file into it, so it belongs to the user now. Unless that is another
        // placeholder.
        case ENOTEMPTY:
        case EEXIST:
            return content != Content::recorded;
        default:
            return false;
    }
}

// Removes placeholders that neither a session nor `wanted` needs. Afterwards the record's names are unlocked.
// The kernel searches a list for each lock request: with hundreds of sessions all these requests would take
// minutes. Then placeholders of other projects stay until a session runs there, or until there are fewer
// sessions.
void sweep(Table& table, Trash trash, const Names& wanted, OpenedProject project) {
    if (table.names.empty()) return;
    ParentDirectories parents(project);
    table.lock_unneeded();
    bool is_crowded = !table.is_alone() && table.names.size() > kCrowd && !project.path.is_root();
    for (auto name = table.names.end(); name != table.names.begin();) {
        --name;
        if (is_crowded && !name->is_within(project.path)) continue;
        if (wanted.contains(*name) || table.is_needed(*name)) continue;
        // Deeper names came first: if one of them is left, this one stays.
        auto deeper = table.names.lower_bound(*name / kLeastName);
        bool has_recorded_content = deeper != table.names.end() && deeper->is_within(*name);
        Content content = has_recorded_content ? Content::recorded : table.expected();
        if (take_away(parents, trash, *name, content)) name = table.names.erase(name);
    }
    table.let_go_of_all();
}

enum class Found { directory, file, nothing, other };

Found look_at(int parent, const base::Path& path) {
    if (parent < 0) return parent == -ENOENT ? Found::nothing : Found::other;
    struct stat status;
    if (::fstatat(parent, std::string(path.name()).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? Found::nothing : Found::other;
    }
    if (S_ISDIR(status.st_mode)) return Found::directory;
    return S_ISREG(status.st_mode) ? Found::file : Found::other;
}

base::Error gone(const base::Path& project) {
    return {.what = base::format("the project {} is gone", project.str()),
            .advice = "something removed or moved it just now"};
}

// The wanted names that are missing, and their missing parents.
base::Result<Names> missing_among(const std::vector<base::Path>& wanted, const Contents& contents,
                                  ParentDirectories& parents, const base::Path& project) {
    Names missing;
    for (base::Path path : wanted) {
        while (!missing.contains(path)) {
            int parent = parents.of(path);
            Found found = look_at(parent, path);
            bool is_there = found == (contents.contains(path) ? Found::file : Found::directory);
            if (is_there) break;
            if (found == Found::nothing && path == project) return gone(project);
            if (found != Found::nothing) {
                base::Error error{
                    .what = path.str() + " can't be held by a placeholder: it is something else now",
                    .advice = "something else changed it just now; try again"};
                if (base::shut_directory(path.parent()))
                    error.what = path.str() + " can't be held by a placeholder";
                return base::with_shut_directory(std::move(error), path.parent());
            }
            missing.insert(path);
            // The parent exists, because it could be opened.
            if (parent >= 0) break;
            path = path.parent();
        }
    }
    return missing;
}

// Zero, or errno.
int make_one(int parent, const base::Path& path, const Contents& contents) {
    std::string name(path.name());
    auto file = contents.find(path);
    if (file != contents.end()) return make_placeholder_file(parent, name.c_str(), file->second);
    return ::mkdirat(parent, name.c_str(), 0755) == 0 ? 0 : errno;
}

base::Status make_placeholder(ParentDirectories& parents, const base::Path& path, const Contents& contents) {
    int parent = parents.of(path);
    int number = parent < 0 ? -parent : make_one(parent, path, contents);
    if (number == 0 || number == EEXIST) return base::success();
    base::Error error = base::system_error("make the placeholder " + path.str(), number);
    error.advice =
        "without it the jail could create that name; make it yourself or take the entry out of "
        "project.protect";
    if (number != EACCES) return error;
    return base::with_shut_directory(std::move(error), path.parent());
}

base::Status make_all(Table& table, const Names& missing, const Contents& contents,
                      ParentDirectories& parents) {
    table.names.insert(missing.begin(), missing.end());
    if (base::Status written = table.write(); !written) return written;
    for (const base::Path& path : missing) {
        if (base::Status made = make_placeholder(parents, path, contents); !made) return made;
    }
    return base::success();
}

base::Result<base::Fd> open_record(const std::string& state_directory) {
    constexpr std::string_view kAdvice =
        "protected names need a record there; make it writable or set XDG_STATE_HOME";
    std::string file = state_directory + "/placeholders";
    auto open = [&] {
        return base::Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    };
    base::Fd record = open();
    if (!record && (errno == ENOENT || errno == ENOTDIR)) {
        if (base::Status made = base::make_directories(state_directory); !made) {
            base::Error error = made.error();
            error.advice = kAdvice;
            return base::with_shut_directory(std::move(error), base::Path() / state_directory);
        }
        record = open();
    }
    if (record) return record;
    base::Error error = base::system_error("open " + file, errno);
    error.advice = kAdvice;
    return error;
}

}  // namespace

base::Result<Placeholders> Placeholders::acquire(const std::string& state_directory,
                                                 std::vector<base::Path> wanted, const Contents& contents,
                                                 const base::Path& project) {
    Placeholders placeholders(state_directory);
    if (wanted.empty()) return placeholders;
    if (!project.is_root()) {
        placeholders.project_path_ = project;
        placeholders.project_ = base::Fd(base::open_without_links(project, O_PATH | O_DIRECTORY));
        int number = -placeholders.project_.get();
        if (number == ENOENT) return gone(project);
        if (number > 0) return base::system_error("open the project " + project.str(), number);
    }
    base::Result<base::Fd> record = open_record(state_directory);
    if (!record) return record.error();
    placeholders.record_ = *std::move(record);
    base::Status made = base::success();
    {
        Table table(placeholders.record_.get());
        const OpenedProject opened{project, placeholders.project_.get()};
        sweep(table, Trash(state_directory), Names(wanted.begin(), wanted.end()), opened);
        ParentDirectories parents(opened);
        base::Result<Names> missing = missing_among(wanted, contents, parents, project);
        if (!missing) return missing.error();
        // Also hold placeholders that another session made. A directory that is not in the record is left
        // alone.
        made = make_all(table, *missing, contents, parents);
        Names& held = *missing;
        for (base::Path& path : wanted) {
            if (table.names.contains(path)) held.insert(std::move(path));
        }
        for (const base::Path& path : held) table.hold(path);
        placeholders.held_ = std::move(held);
        placeholders.contents_ = contents;
    }
    if (!made) return made.error();
    return placeholders;
}

// Threat: if the keeper renews placeholders while the supervisor removes them, unneeded ones would stay. So
// both lock the record, each with its own open file, and a name that is no longer in the record is left
// alone.
void Placeholders::renew() const {
    if (held_.empty()) return;
    base::Result<base::Fd> record = open_record(state_directory_);
    if (!record) return;
    Table table(record->get());
    ParentDirectories parents({project_path_, project_.get()});
    // A parent comes before its content.
    for (const base::Path& path : held_) {
        if (table.names.contains(path)) (void)make_placeholder(parents, path, contents_);
    }
}

void Placeholders::release() {
    if (!record_) return;
    {
        Table table(record_.get());
        table.expect_content(may_have_content_);
        sweep(table, Trash(state_directory_), {}, {project_path_, project_.get()});
    }
    record_.reset();
    project_.reset();
}

bool Placeholders::release_rest() {
    if (!record_) return true;
    Table table(record_.get());
    auto is_left = [&](const base::Path& path) { return table.names.contains(path); };
    auto left = std::ranges::find_if(held_, is_left);
    if (left == held_.end()) return true;
    // Check one for all: a session that holds one of a project mostly holds all of them.
    if (table.is_needed(*left)) return false;
    sweep(table, Trash(state_directory_), {}, {project_path_, project_.get()});
    return std::ranges::none_of(held_, is_left);
}

}  // namespace session
