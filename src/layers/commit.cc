// SPDX-License-Identifier: MIT
// Theory of operation. Between the scan and this moment a user may have saved a file, and a program may do so
// between any two calls here. So every operation first compares inode and time of what it is going to move
// with the journal, moves it, and compares again what it got. If that is something else, it moves it back and
// stops. A move never replaces an entry: what is at a name, or what was there, is always in the project or in
// a slot.
#include "layers/commit.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/no_links.h"
#include "base/text.h"
#include "layers/stage.h"
#include "layers/tree.h"

namespace layers {
namespace {

// Of a file system that can't exchange: the original, until the new entry has its name.
std::string spare_name(const std::string& slot) {
    return slot + ".old";
}

std::optional<Identity> identity_at(int directory, const std::string& name) {
    struct stat status;
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return Identity{status.st_ino, nanoseconds(status.st_mtim), S_ISDIR(status.st_mode)};
}

// The time of a directory changes with each entry that is made in it.
bool is_same(const std::optional<Identity>& found, const Identity& expected) {
    return found && found->inode == expected.inode && found->is_directory == expected.is_directory &&
           (expected.is_directory || found->modified == expected.modified);
}

bool has_inode(const std::optional<Identity>& found, const Identity& expected) {
    return found && found->inode == expected.inode;
}

struct Name {
    int directory;
    const std::string& name;

    std::optional<Identity> identity() const { return identity_at(directory, name); }
};

int rename_with(const Name& from, const Name& to, unsigned flags) {
    long done =
        ::syscall(SYS_renameat2, from.directory, from.name.c_str(), to.directory, to.name.c_str(), flags);
    return done == 0 ? 0 : errno;
}

bool lacks_flags(int number) {
    return number == EINVAL || number == ENOSYS;
}

// Moves an entry to a name that must be missing. A file system without RENAME_NOREPLACE (NFS) can link a
// file, which fails where the name exists. A directory can't be linked, and there the check comes a moment
// earlier.
int move_to_free_name(const Name& from, const Name& to) {
    int number = rename_with(from, to, RENAME_NOREPLACE);
    if (!lacks_flags(number)) return number;
    std::optional<Identity> moved = from.identity();
    if (!moved) return ENOENT;
    if (moved->is_directory) return to.identity() ? EEXIST : rename_with(from, to, 0);
    if (::linkat(from.directory, from.name.c_str(), to.directory, to.name.c_str(), 0) != 0) {
        // A crash can come between the link and the removal of the first name.
        if (errno != EEXIST || !has_inode(to.identity(), *moved)) return errno;
    }
    return ::unlinkat(from.directory, from.name.c_str(), 0) == 0 ? 0 : errno;
}

// The slot's entry gets the name, and what was there gets the slot.
int exchange_names(const Name& slot, const Name& at) {
    int number = rename_with(slot, at, RENAME_EXCHANGE);
    if (!lacks_flags(number)) return number;
    const std::string spare = spare_name(slot.name);
    const Name kept{slot.directory, spare};
    std::optional<Identity> fresh = slot.identity(), old = at.identity();
    if (!fresh || !old) return ENOENT;
    if (fresh->is_directory || old->is_directory) {
        number = rename_with(at, kept, 0);
    } else {
        number = ::linkat(at.directory, at.name.c_str(), kept.directory, spare.c_str(), 0) == 0 ? 0 : errno;
    }
    if (number == 0) number = rename_with(slot, at, 0);
    return number != 0 ? number : rename_with(kept, slot, 0);
}

// After a crash between two of these calls: completes the exchange, or takes its first call back.
int settle_exchange(const Name& slot, const Name& at) {
    const std::string spare = spare_name(slot.name);
    const Name kept{slot.directory, spare};
    std::optional<Identity> third = kept.identity();
    if (!third) return 0;
    if (!slot.identity()) return rename_with(kept, slot, 0);
    if (!at.identity()) return rename_with(kept, at, 0);
    return ::unlinkat(kept.directory, spare.c_str(), 0) == 0 ? 0 : errno;
}

base::Error changed_meanwhile(const std::string& path) {
    return base::Error{.what = base::printable(path) + " changed while the changes were applied",
                       .advice = "run the command again",
                       .exit_code = base::ExitCode::check_failed};
}

base::Status finished(const std::string& path, int number) {
    if (number == 0) return base::success();
    if (number == EEXIST || number == ENOENT) return changed_meanwhile(path);
    return base::system_error("change " + base::printable(path), number);
}

}  // namespace

base::Result<Commit> Commit::open(const Journal& journal) {
    base::Fd project(base::open_without_links(journal.project, O_PATH | O_DIRECTORY));
    if (!project) return base::system_error("open " + base::printable(journal.project.str()), -project.get());
    struct stat status;
    if (::fstat(project.get(), &status) != 0 || status.st_ino != journal.project_inode)
        return base::Error{.what = base::format("{} is not the directory that the layer was made for",
                                                base::printable(journal.project.str())),
                           .advice = "move that directory back to this path"};
    base::Fd slots(base::open_without_links(base::Path::known(journal.slots), O_RDONLY | O_DIRECTORY));
    if (!slots) return base::system_error("open " + base::printable(journal.slots), -slots.get());
    return Commit(journal, std::move(project), std::move(slots));
}

bool Commit::is_performed(size_t index) const {
    const Operation& operation = journal_->operations[index];
    const std::string slot = slot_name(index);
    std::optional<Identity> in_slot = identity_at(slots_.get(), slot);
    switch (operation.act) {
        case Act::put:
            return !has_inode(in_slot, operation.fresh);
        case Act::exchange:
        case Act::remove:
            return has_inode(in_slot, operation.old);
        case Act::mode:
            break;
    }
    struct stat status;
    return look(project_.get(), operation.path, status) == 0 && status.st_ino == operation.fresh.inode &&
           (status.st_mode & 07777) == operation.mode_after;
}

base::Status Commit::perform() const {
    for (size_t i = 0; i < journal_->operations.size(); ++i) {
        if (base::Status done = perform_one(i); !done) return done;
    }
    return base::success();
}

size_t Commit::performed() const {
    size_t count = 0;
    for (size_t i = 0; i < journal_->operations.size(); ++i) count += is_performed(i) ? 1 : 0;
    return count;
}

base::Status Commit::perform_one(size_t index) const {
    const Operation& operation = journal_->operations[index];
    switch (operation.act) {
        case Act::put:
            return put(index);
        case Act::exchange:
            return exchange(index);
        case Act::remove:
            return remove(index);
        case Act::mode:
            return is_gone_by_plan(operation) ? base::success()
                                              : change_mode(operation, operation.mode_after);
    }
    return base::success();
}

// A directory that was made writable to be moved, and has been moved before the interruption.
bool Commit::is_gone_by_plan(const Operation& mode) const {
    struct stat status;
    if (look(project_.get(), mode.path, status) == 0 && status.st_ino == mode.fresh.inode) return false;
    for (size_t i = 0; i < journal_->operations.size(); ++i) {
        const Operation& other = journal_->operations[i];
        bool moves_it =
            other.act != Act::mode && other.old.inode == mode.fresh.inode && other.path == mode.path;
        if (moves_it) return is_performed(i);
    }
    return false;
}

base::Status Commit::put(size_t index) const {
    const Operation& operation = journal_->operations[index];
    const std::string slot = slot_name(index);
    Place place = place_of(project_.get(), operation.path);
    if (place.error != 0) return finished(operation.path, place.error);
    const Name from{slots_.get(), slot}, to{place.directory.get(), place.name};
    // Without the flags of rename, both names exist for a moment.
    if (!has_inode(from.identity(), operation.fresh))
        return has_inode(to.identity(), operation.fresh) ? base::success()
                                                         : changed_meanwhile(operation.path);
    return finished(operation.path, move_to_free_name(from, to));
}

base::Status Commit::exchange(size_t index) const {
    const Operation& operation = journal_->operations[index];
    const std::string slot = slot_name(index);
    Place place = place_of(project_.get(), operation.path);
    if (place.error != 0) return finished(operation.path, place.error);
    const Name in_slot{slots_.get(), slot}, at{place.directory.get(), place.name};
    if (int number = settle_exchange(in_slot, at); number != 0) return finished(operation.path, number);
    if (has_inode(in_slot.identity(), operation.old)) return base::success();
    if (!is_same(at.identity(), operation.old)) return changed_meanwhile(operation.path);
    if (int number = exchange_names(in_slot, at); number != 0) return finished(operation.path, number);
    bool is_right = is_same(in_slot.identity(), operation.old) &&
                    !(operation.old.is_directory && has_newer_content(slot));
    if (is_right) return base::success();
    exchange_names(in_slot, at);
    return changed_meanwhile(operation.path);
}

base::Status Commit::remove(size_t index) const {
    const Operation& operation = journal_->operations[index];
    const std::string slot = slot_name(index);
    Place place = place_of(project_.get(), operation.path);
    const Name in_slot{slots_.get(), slot}, at{place.directory.get(), place.name};
    if (has_inode(in_slot.identity(), operation.old)) {
        // Without the flags of rename, both names exist for a moment.
        bool has_both =
            place.error == 0 && !operation.old.is_directory && has_inode(at.identity(), operation.old);
        return has_both
                   ? finished(operation.path, ::unlinkat(at.directory, at.name.c_str(), 0) == 0 ? 0 : errno)
                   : base::success();
    }
    if (place.error != 0) return finished(operation.path, place.error);
    if (!is_same(at.identity(), operation.old)) return changed_meanwhile(operation.path);
    if (int number = move_to_free_name(at, in_slot); number != 0) return finished(operation.path, number);
    bool is_right = is_same(in_slot.identity(), operation.old) &&
                    !(operation.old.is_directory && has_newer_content(slot));
    if (is_right) return base::success();
    move_to_free_name(in_slot, at);
    return changed_meanwhile(operation.path);
}

base::Status Commit::change_mode(const Operation& operation, uint32_t mode) const {
    struct stat status;
    if (int number = look(project_.get(), operation.path, status); number != 0)
        return finished(operation.path, number);
    if (status.st_ino != operation.fresh.inode) return changed_meanwhile(operation.path);
    int number = set_mode(project_.get(), operation.path, mode);
    if (number == 0) return base::success();
    return base::system_error("change the permissions of " + base::printable(operation.path), number);
}

// Whether something in a directory that was moved out has changed since the project was read.
bool Commit::has_newer_content(const std::string& slot) const {
    base::Result<std::vector<std::string>> names = names_below(slots_.get(), slot);
    if (!names) return false;
    for (const std::string& name : *names) {
        struct stat status;
        if (look(slots_.get(), name, status) != 0 || S_ISDIR(status.st_mode)) continue;
        // The ctime of a file with several names also changes when an operation moves another of them.
        const struct timespec& time = status.st_nlink > 1 ? status.st_mtim : status.st_ctim;
        if (nanoseconds(time) > journal_->scanned) return true;
    }
    return false;
}

// ---- Back

std::vector<std::string> Commit::changed_since() const {
    std::vector<std::string> changed;
    for (size_t i = 0; i < journal_->operations.size(); ++i) {
        const Operation& operation = journal_->operations[i];
        if (operation.act == Act::mode || !is_performed(i)) continue;
        Place place = place_of(project_.get(), operation.path);
        std::optional<Identity> found =
            place.error == 0 ? identity_at(place.directory.get(), place.name) : std::nullopt;
        bool is_untouched = operation.act == Act::remove
                                ? !found || has_inode(found, operation.old)
                                : is_same(found, operation.fresh) || has_inode(found, operation.old);
        if (!is_untouched) changed.push_back(operation.path);
    }
    return changed;
}

base::Status Commit::take_back(const std::vector<std::string>& excused) const {
    for (size_t i = journal_->operations.size(); i-- > 0;) {
        bool is_excused = std::ranges::find(excused, journal_->operations[i].path) != excused.end();
        if (base::Status done = take_back_one(i, is_excused); !done) return done;
    }
    return base::success();
}

base::Status Commit::take_back_one(size_t index, bool is_excused) const {
    const Operation& operation = journal_->operations[index];
    const std::string slot = slot_name(index);
    Place place = place_of(project_.get(), operation.path);
    const Name in_slot{slots_.get(), slot}, at{place.directory.get(), place.name};
    if (operation.act == Act::mode) {
        struct stat status;
        bool is_there = look(project_.get(), operation.path, status) == 0 &&
                        status.st_ino == operation.fresh.inode &&
                        (status.st_mode & 07777) == operation.mode_after;
        return is_there ? change_mode(operation, operation.mode_before) : base::success();
    }
    if (place.error != 0) return base::success();
    if (operation.act == Act::put) {
        if (!has_inode(at.identity(), operation.fresh)) return base::success();
        if (has_inode(in_slot.identity(), operation.fresh))  // both names exist, see put()
            return finished(operation.path, ::unlinkat(at.directory, at.name.c_str(), 0) == 0 ? 0 : errno);
        if (int number = move_to_free_name(at, in_slot); number != 0) return finished(operation.path, number);
        // A directory in which something new was made since stays.
        base::Result<std::vector<std::string>> names =
            operation.fresh.is_directory ? names_in(slots_.get(), slot) : std::vector<std::string>{};
        if (names && names->empty()) return base::success();
        return finished(operation.path, move_to_free_name(in_slot, at));
    }
    if (operation.act == Act::exchange) {
        if (int number = settle_exchange(in_slot, at); number != 0) return finished(operation.path, number);
    }
    if (!has_inode(in_slot.identity(), operation.old)) return base::success();
    if (operation.act == Act::remove) {
        if (has_inode(at.identity(), operation.old))  // both names exist, see remove()
            return finished(operation.path, ::unlinkat(in_slot.directory, slot.c_str(), 0) == 0 ? 0 : errno);
        return finished(operation.path, move_to_free_name(in_slot, at));
    }
    if (!has_inode(at.identity(), operation.fresh) && !is_excused) return changed_meanwhile(operation.path);
    return finished(operation.path, exchange_names(in_slot, at));
}

base::Status Commit::sync() const {
    if (::syncfs(slots_.get()) != 0) return base::system_error("sync the project", errno);
    return base::success();
}

}  // namespace layers
