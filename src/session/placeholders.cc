// SPDX-License-Identifier: MIT
// Theory of operation. One record in the state directory names every placeholder that a session of this user
// has made; a name is written down before its directory is made, so that a crash leaves nothing unknown. The
// locks are on bytes of that record:
//
//   byte 0          held exclusively by whoever reads and changes the record, for a moment
//   byte hash(path) held shared, for its life, by each session that needs the placeholder at path
//
// A placeholder whose byte can be locked exclusively is needed by nobody: it is removed. The locks belong to
// the open file (OFD locks), so the kernel drops them when a session is killed, and a forked keeper holds
// them along. Two paths with one hash only wait for each other. Removing a directory that a living jail has
// mounted something on would undo that mount (Linux 3.18): hence all this. rmdir never takes content away,
// whatever the record says.
#include "session/placeholders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/no_links.h"
#include "base/text.h"

namespace session {
namespace {

// The deepest first when walked backwards: a parent sorts before what is in it.
using Names = std::set<base::Path>;

constexpr off_t kTable = 0;

off_t byte_of(const base::Path& path) {
    uint64_t hash = 14695981039346656037u;  // FNV-1a: the same in every version of the program
    for (unsigned char byte : path.str()) hash = (hash ^ byte) * 1099511628211u;
    return static_cast<off_t>(hash >> 2) + 1;
}

// Zero, or errno: EAGAIN where another session is in the way, anything else where the file system can't lock.
int set_lock(int record, short type, off_t byte, bool waits) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    while (::fcntl(record, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

// The record while it is ours alone. Names end with NUL.
class Table {
  public:
    explicit Table(int record) : record_(record), can_lock_(set_lock(record, F_WRLCK, kTable, true) == 0) {
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
        if (can_lock_) set_lock(record_, F_UNLCK, kTable, false);
    }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    base::Status write() {
        if (names == before_) return base::success();
        std::string content;
        for (const base::Path& name : names) content += name.str() + '\0';
        ssize_t written = ::pwrite(record_, content.data(), content.size(), 0);
        if (written != static_cast<ssize_t>(content.size()) || ::ftruncate(record_, written) != 0) {
            return base::system_error("write the record of placeholders", errno);
        }
        before_ = names;
        return base::success();
    }
    // Where nothing can be locked, nobody knows who else needs a placeholder: nothing is ever removed.
    bool is_needed(const base::Path& path) const {
        return !can_lock_ || set_lock(record_, F_WRLCK, byte_of(path), false) != 0;
    }
    void hold(const base::Path& path) { set_lock(record_, F_RDLCK, byte_of(path), false); }
    void let_go(const base::Path& path) { set_lock(record_, F_UNLCK, byte_of(path), false); }

    Names names;

  private:
    int record_;
    bool can_lock_;
    Names before_;
};

base::Fd open_parent(const base::Path& path) {
    return base::Fd(base::open_without_links(path.parent(), O_PATH | O_DIRECTORY));
}

// True when the name need not be remembered any more.
bool remove_directory(const base::Path& path, bool has_recorded_content) {
    base::Fd parent = open_parent(path);
    if (!parent) return parent.get() == -ENOENT || parent.get() == -ENOTDIR || parent.get() == -ELOOP;
    if (::unlinkat(parent.get(), std::string(path.name()).c_str(), AT_REMOVEDIR) == 0) return true;
    switch (errno) {
        case ENOENT:
        case ENOTDIR:
            return true;
        // Somebody put something into it: it is theirs now. Unless that is another placeholder.
        case ENOTEMPTY:
        case EEXIST:
            return !has_recorded_content;
        default:
            return false;
    }
}

// Removes what is needed neither by a session nor by `wanted`.
void sweep(Table& table, const Names& wanted) {
    for (auto name = table.names.end(); name != table.names.begin();) {
        --name;
        if (wanted.contains(*name) || table.is_needed(*name)) continue;
        // What lies deeper came first: what is left of it stays.
        bool has_recorded_content = std::ranges::any_of(
            table.names, [&](const base::Path& other) { return other.is_strictly_within(*name); });
        bool is_gone = remove_directory(*name, has_recorded_content);
        table.let_go(*name);
        if (is_gone) name = table.names.erase(name);
    }
}

enum class Found { directory, nothing, other };

Found look_at(const base::Path& path) {
    base::Fd fd(base::open_without_links(path, O_PATH | O_DIRECTORY));
    if (fd) return Found::directory;
    return fd.get() == -ENOENT ? Found::nothing : Found::other;
}

// The wanted ones that are missing, and their missing parents.
base::Result<Names> missing_among(const std::vector<base::Path>& wanted) {
    Names missing;
    for (base::Path path : wanted) {
        while (!missing.contains(path)) {
            Found found = look_at(path);
            if (found == Found::directory) break;
            if (found == Found::other) {
                return base::Error{
                    .what = path.str() + " can't be held by a placeholder: it is no directory any more",
                    .advice = "something else changed it just now; try again"};
            }
            missing.insert(path);
            path = path.parent();
        }
    }
    return missing;
}

base::Status make_directory(const base::Path& path) {
    base::Fd parent = open_parent(path);
    int number = parent ? 0 : -parent.get();
    if (parent && ::mkdirat(parent.get(), std::string(path.name()).c_str(), 0755) != 0) number = errno;
    if (number == 0 || number == EEXIST) return base::success();
    base::Error error = base::system_error("make the placeholder " + path.str(), number);
    error.advice =
        "without it the jail could create that name; make the directory yourself or take the entry out of "
        "project.protect";
    return error;
}

base::Status make_all(Table& table, const Names& missing) {
    table.names.insert(missing.begin(), missing.end());
    if (base::Status written = table.write(); !written) return written;
    for (const base::Path& path : missing) {
        if (base::Status made = make_directory(path); !made) return made;
    }
    return base::success();
}

base::Result<base::Fd> open_record(const std::string& state_directory) {
    if (base::Status made = base::make_directories(state_directory); !made) {
        base::Error error = made.error();
        error.advice = "protected names need a record there; make it writable or set XDG_STATE_HOME";
        return error;
    }
    std::string file = state_directory + "/placeholders";
    base::Fd record(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!record) return base::system_error("open " + file, errno);
    return record;
}

}  // namespace

base::Result<Placeholders> Placeholders::acquire(const std::string& state_directory,
                                                 std::vector<base::Path> wanted) {
    Placeholders placeholders;
    if (wanted.empty()) return placeholders;
    base::Result<base::Fd> record = open_record(state_directory);
    if (!record) return record.error();
    placeholders.record_ = *std::move(record);
    base::Status made = base::success();
    {
        Table table(placeholders.record_.get());
        sweep(table, Names(wanted.begin(), wanted.end()));
        base::Result<Names> missing = missing_among(wanted);
        if (!missing) return missing.error();
        // One that another session has made is held as well; one that is no placeholder at all is left alone.
        made = make_all(table, *missing);
        for (const base::Path& path : wanted) {
            if (table.names.contains(path)) table.hold(path);
        }
        for (const base::Path& path : *missing) table.hold(path);
    }
    if (!made) return made.error();
    return placeholders;
}

void Placeholders::release() {
    if (!record_) return;
    {
        Table table(record_.get());
        sweep(table, {});
    }
    record_.reset();
}

}  // namespace session
