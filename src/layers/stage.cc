// SPDX-License-Identifier: MIT
#include "layers/stage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr mode_t kStaged = 0700;  // of a directory, until its content is complete
constexpr mode_t kSetId = 06000;
constexpr mode_t kOwnersAll = 0700;

class Operations {
  public:
    Operations(int project, const std::vector<Change>& changes) : project_(project), changes_(changes) {}

    base::Result<std::vector<Operation>> make() {
        for (const Change& change : changes_) {
            if (base::Status added = add(change); !added) return added.error();
        }
        std::vector<Operation> all = std::move(first_);
        std::ranges::move(names_, std::back_inserter(all));
        // Sorted by path: a directory comes after its content when the order is reversed.
        std::ranges::sort(last_, std::ranges::greater{}, &Operation::path);
        std::ranges::move(last_, std::back_inserter(all));
        return all;
    }

  private:
    base::Status add(const Change& change) {
        const bool was_directory = change.before.kind == EntryKind::directory;
        const bool is_directory = change.after.kind == EntryKind::directory;
        if (change.is_mode_alone && !has_other_names(change)) return change_mode(change);
        if (base::Status opened = make_parent_writable(change.path); !opened) return opened;
        if (change.before.exists() && was_directory) {
            // A directory moves only if its owner may write in it.
            if (base::Status opened = make_writable(change.path, false); !opened) return opened;
        }
        Operation operation{.act = !change.after.exists()    ? Act::remove
                                   : !change.before.exists() ? Act::put
                                                             : Act::exchange,
                            .path = change.path};
        operation.fresh.is_directory = is_directory;
        operation.old = {change.before.inode, change.before.modified, was_directory};
        operation.mode_after = change.after.mode;
        names_.push_back(operation);
        if (is_directory) {
            last_.push_back({.act = Act::mode,
                             .path = change.path,
                             .fresh = {.is_directory = true},
                             .mode_before = kStaged,
                             .mode_after = change.after.mode});
            fresh_.insert(change.path);
        }
        return base::success();
    }

    // An overlay separates the names of a file when one of them is changed. So the others keep the old mode.
    bool has_other_names(const Change& change) const {
        struct stat status;
        return look(project_, change.path, status) == 0 && !S_ISDIR(status.st_mode) && status.st_nlink > 1;
    }

    base::Status change_mode(const Change& change) {
        struct stat status;
        if (int number = look(project_, change.path, status); number != 0)
            return base::system_error("read " + base::printable(change.path), number);
        const mode_t before = status.st_mode & 07777;
        const bool is_directory = S_ISDIR(status.st_mode);
        // Threat: a program with the set-user-ID bit that only its owner may run becomes one for everyone
        // (tests/layers/apply_test.cc). The jail can't set the bit, and a change of the mode there removes
        // it.
        const bool keeps_bits = is_directory || (change.after.mode & ~before) == 0;
        const mode_t after = change.after.mode | (keeps_bits ? before & kSetId : 0);
        const Identity itself{status.st_ino, nanoseconds(status.st_mtim), is_directory};
        if (auto opened = opened_.find(change.path); opened != opened_.end()) {
            last_[opened->second].mode_after = after;
        } else {
            opened_.emplace(change.path, last_.size());
            last_.push_back({.act = Act::mode,
                             .path = change.path,
                             .fresh = itself,
                             .mode_before = before,
                             .mode_after = after});
            // What is changed in it needs the permission meanwhile.
            if (is_directory && (before & kOwnersAll) != kOwnersAll) open(change.path, itself, before);
        }
        return base::success();
    }

    base::Status make_parent_writable(const std::string& path) {
        const std::string parent = parent_of(path);
        return fresh_.contains(parent) ? base::success() : make_writable(parent, true);
    }

    // `closes_again`: at the end the directory gets its permissions back. One that is removed keeps them:
    // undo sets them when it is back.
    base::Status make_writable(const std::string& path, bool closes_again) {
        if (opened_.contains(path)) return base::success();
        struct stat status;
        if (int number = look(project_, path, status); number != 0)
            return base::system_error("read " + base::printable(path), number);
        const mode_t before = status.st_mode & 07777;
        if ((before & kOwnersAll) == kOwnersAll || !S_ISDIR(status.st_mode)) return base::success();
        const Identity itself{status.st_ino, nanoseconds(status.st_mtim), true};
        open(path, itself, before);
        opened_.emplace(path, last_.size());
        if (!closes_again) return base::success();
        last_.push_back({.act = Act::mode,
                         .path = path,
                         .fresh = itself,
                         .mode_before = before | kOwnersAll,
                         .mode_after = before});
        return base::success();
    }

    void open(const std::string& path, const Identity& itself, mode_t before) {
        first_.push_back({.act = Act::mode,
                          .path = path,
                          .fresh = itself,
                          .mode_before = before,
                          .mode_after = before | kOwnersAll});
        for (Operation& operation : last_) {
            if (operation.path == path) operation.mode_before = before | kOwnersAll;
        }
    }

    int project_;
    const std::vector<Change>& changes_;
    std::vector<Operation> first_, names_, last_;
    std::set<std::string> fresh_;           // directories that are made
    std::map<std::string, size_t> opened_;  // directory → its operation in last_
};

class Filler {
  public:
    Filler(int layer, int slots) : layer_(layer), slots_(slots) {}

    base::Status fill(size_t index, Operation& operation) {
        const std::string slot = slot_name(index);
        int number =
            operation.fresh.is_directory ? make_directory(slot, operation) : fill_other(slot, operation);
        struct stat status;
        if (number == 0 && ::fstatat(slots_, slot.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) number = errno;
        if (number != 0) return base::system_error("copy " + base::printable(operation.path), number);
        operation.fresh.inode = status.st_ino;
        operation.fresh.modified = nanoseconds(status.st_mtim);
        return base::success();
    }

  private:
    // Its mode is set when its content is complete, which keeps the other entries of an ACL.
    int make_directory(const std::string& slot, const Operation& operation) const {
        if (::mkdirat(slots_, slot.c_str(), kStaged) != 0) return errno;
        base::Fd from(open_below(layer_, operation.path, O_RDONLY | O_DIRECTORY));
        base::Fd to(open_below(slots_, slot, O_RDONLY | O_DIRECTORY));
        if (!from || !to) return !from ? -from.get() : -to.get();
        if (int number = copy_attributes(from.get(), to.get()); number != 0) return number;
        return ::fchmod(to.get(), kStaged) == 0 ? 0 : errno;
    }

    int fill_other(const std::string& slot, const Operation& operation) {
        struct stat status;
        if (int number = look(layer_, operation.path, status); number != 0) return number;
        if (S_ISLNK(status.st_mode)) {
            base::Result<std::string> target = link_target(layer_, operation.path);
            if (!target) return EIO;
            return ::symlinkat(target->c_str(), slots_, slot.c_str()) == 0 ? 0 : errno;
        }
        // Names of one file stay names of one file.
        if (status.st_nlink > 1) {
            auto [earlier, is_first] = copied_.try_emplace(status.st_ino, slot);
            if (!is_first) {
                int linked = ::linkat(slots_, earlier->second.c_str(), slots_, slot.c_str(), 0);
                if (linked == 0) return 0;
                if (errno != EMLINK) return errno;
                earlier->second = slot;
            }
        }
        return copy_file(slot, operation);
    }

    int copy_file(const std::string& slot, const Operation& operation) const {
        base::Fd from(open_below(layer_, operation.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        if (!from) return -from.get();
        struct stat status;
        if (::fstat(from.get(), &status) != 0) return errno;
        if (!S_ISREG(status.st_mode)) return ESTALE;
        base::Fd to(
            ::openat(slots_, slot.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!to) return errno;
        if (int number = copy_bytes(from.get(), to.get(), static_cast<uint64_t>(status.st_size)); number != 0)
            return number;
        if (int number = copy_attributes(from.get(), to.get()); number != 0) return number;
        if (::fchmod(to.get(), status.st_mode & 01777) != 0) return errno;
        const struct timespec times[] = {status.st_atim, status.st_mtim};
        return ::futimens(to.get(), times) == 0 ? 0 : errno;
    }

    int layer_, slots_;
    std::map<uint64_t, std::string> copied_;  // inode of the layer → slot
};

}  // namespace

std::string slot_name(size_t index) {
    return std::to_string(index);
}

base::Result<std::vector<Operation>> operations_for(int project, const std::vector<Change>& changes) {
    return Operations(project, changes).make();
}

base::Status fill_slots(int layer, int slots, std::vector<Operation>& operations) {
    Filler filler(layer, slots);
    std::map<std::string, Identity> fresh;  // directories
    for (size_t i = 0; i < operations.size(); ++i) {
        Operation& operation = operations[i];
        if (operation.act == Act::put || operation.act == Act::exchange) {
            if (base::Status filled = filler.fill(i, operation); !filled) return filled;
            if (operation.fresh.is_directory) fresh.emplace(operation.path, operation.fresh);
        } else if (operation.act == Act::mode) {
            if (auto made = fresh.find(operation.path); made != fresh.end()) operation.fresh = made->second;
        }
    }
    return base::success();
}

}  // namespace layers
