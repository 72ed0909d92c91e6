// SPDX-License-Identifier: MIT
// Theory of operation. The kernel writes three marks into an upper directory (mounted with `userxattr`): a
// character device 0:0 deletes a name; a directory with user.overlay.opaque = "y" hides the directory below
// it at every depth, and only the topmost such directory has the mark; a few attributes have no meaning for
// us. A process inside can't make them: the kernel refuses the device and escapes the attributes.
//
// A clone has no marks: the listing shows what was changed in it, and what is listed and missing was deleted.
//
// Everything else is compared with the project as it is now. What is the same is not a change.
#include "layers/changes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "base/text.h"
#include "layers/clone/listing.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr std::string_view kMark = "user.overlay.";
constexpr std::string_view kEscaped = "user.overlay.overlay.";  // an attribute of a process inside
constexpr std::string_view kMeaningless[] = {"user.overlay.uuid", "user.overlay.impure",
                                             "user.overlay.origin", "user.overlay.nlink",
                                             "user.overlay.protattr"};
constexpr const char* kReserved = "the name is reserved for this program";
EntryKind kind_of(const struct stat& status) {
    if (S_ISREG(status.st_mode)) return EntryKind::file;
    if (S_ISDIR(status.st_mode)) return EntryKind::directory;
    return S_ISLNK(status.st_mode) ? EntryKind::link : EntryKind::special;
}

Entry entry_of(const struct stat& status) {
    return {.kind = kind_of(status),
            .mode = static_cast<uint32_t>(status.st_mode & 01777),
            .size = static_cast<uint64_t>(status.st_size),
            .inode = status.st_ino,
            .modified = nanoseconds(status.st_mtim)};
}

base::Error not_ours(const std::string& path, const std::string& why) {
    return base::Error{.what = base::format("this layer was not made by this program: {} {}",
                                            path.empty() ? "its root" : base::printable(path), why),
                       .advice = "look at it by hand; 'agent-sandbox discard' removes it"};
}

class Walk {
  public:
    explicit Walk(const Sides& sides) : sides_(sides) {}

    base::Result<std::vector<Change>> run() {
        struct stat upper, lower;
        if (int number = look(sides_.layer, "", upper); number != 0)
            return base::system_error("read the layer", number);
        if (int number = look(sides_.project, "", lower); number != 0)
            return base::system_error("read the project", number);
        if (base::Status added = add_directory({"", upper, &lower, false}); !added) return added.error();
        return std::move(changes_);
    }

  private:
    struct Pair {
        std::string path;
        struct stat upper;
        const struct stat* lower;  // null: missing
        bool is_hidden;            // nothing of the project shows here
    };

    bool is_clone() const { return sides_.listing != nullptr; }

    base::Status visit(const std::string& path, bool is_hidden) {
        struct stat upper, lower;
        if (int number = look(sides_.layer, path, upper); number != 0)
            return number == ENOENT
                       ? base::success()  // a running session removed it
                       : base::Status(base::system_error("read " + base::printable(path), number));
        int number = look(sides_.project, path, lower);
        if (number != 0 && number != ENOENT)
            return base::system_error("read " + base::printable(path) + " in the project", number);
        const Pair pair{path, upper, number == 0 ? &lower : nullptr, is_hidden};
        if (is_clone()) {
            if (S_ISDIR(upper.st_mode)) return add_directory(pair);
            const Listed* listed = sides_.listing->find(path);
            return listed != nullptr && listed->is_unchanged(upper) ? base::success() : add_other(pair);
        }
        if (is_whiteout(upper)) return pair.lower == nullptr ? base::success() : add_deletion(path, lower);
        if (S_ISDIR(upper.st_mode)) return add_directory(pair);
        return add_other(pair);
    }

    // ---- One name

    base::Status add_deletion(const std::string& path, const struct stat& lower) {
        Change change{.path = path, .before = entry_of(lower)};
        if (path == kStage) change.obstacle = kReserved;
        find_conflicts(change, path, lower);
        changes_.push_back(std::move(change));
        return base::success();
    }

    base::Status add_other(const Pair& pair) {
        Change change{.path = pair.path, .after = entry_of(pair.upper)};
        if (change.after.kind == EntryKind::special) {
            change.obstacle = "it is a socket, a pipe or a device";
        } else if (pair.path == kStage) {
            change.obstacle = kReserved;
        } else if (change.after.kind == EntryKind::file) {
            base::Fd file(open_below(sides_.layer, pair.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
            if (!file) change.obstacle = "its owner has no permission to read it";
            if (base::Status known = check_marks(pair.path, file.get(), nullptr); !known) return known;
        }
        if (pair.lower != nullptr) {
            change.before = entry_of(*pair.lower);
            bool is_same = false;
            if (base::Status compared = compare_content(change, is_same); !compared) return compared;
            bool has_same_mode =
                change.before.mode == change.after.mode || change.after.kind == EntryKind::link;
            if (is_same && has_same_mode) return base::success();
            change.is_mode_alone = is_same;
            find_conflicts(change, pair.path, *pair.lower);
        }
        changes_.push_back(std::move(change));
        return base::success();
    }

    base::Status add_directory(const Pair& pair) {
        Change change{.path = pair.path, .after = entry_of(pair.upper)};
        change.after.size = 0;
        bool had_directory = pair.lower != nullptr && S_ISDIR(pair.lower->st_mode);
        const Listed* listed = is_clone() ? sides_.listing->find(pair.path) : nullptr;
        const bool is_as_copied = listed != nullptr && listed->is_unchanged(pair.upper);
        if (pair.lower != nullptr) {
            change.before = entry_of(*pair.lower);
            if (had_directory) change.before.size = 0;
            if (!had_directory || change.before.mode != change.after.mode)
                find_own_conflict(change, pair.path, *pair.lower);
        }
        change.is_mode_alone = had_directory;
        if (pair.path == kStage) change.obstacle = kReserved;
        if (pair.path.size() > kLongestPath) change.obstacle = "it is nested too deep";
        const bool is_listed =
            change.obstacle.empty() && (pair.upper.st_mode & S_IRUSR) && (pair.upper.st_mode & S_IXUSR);
        if (!is_listed && change.obstacle.empty()) change.obstacle = "its owner has no permission to list it";
        bool is_change = !had_directory || change.before.mode != change.after.mode;
        if (is_as_copied) {
            // Without permission to list it, it was so in the project, too.
            if (!is_listed) return base::success();
            is_change = is_change && !had_directory;
        }
        if (is_change || !is_listed) changes_.push_back(std::move(change));
        const size_t before_content = changes_.size();
        if (base::Status added = is_listed ? add_content(pair, had_directory) : base::success(); !added)
            return added;
        // A directory that only the user removed is made again for what the layer changes in it.
        bool is_needed =
            std::any_of(changes_.begin() + static_cast<ptrdiff_t>(before_content), changes_.end(),
                        [](const Change& below) { return !below.is_deletion(); });
        if (is_as_copied && is_change && !is_needed) changes_.resize(before_content - 1);
        return base::success();
    }

    base::Status add_content(const Pair& pair, bool had_directory) {
        bool is_opaque = false;
        base::Fd directory(open_below(sides_.layer, pair.path, O_RDONLY | O_DIRECTORY));
        if (!directory) return base::system_error("open " + base::printable(pair.path), -directory.get());
        if (base::Status known = check_marks(pair.path, directory.get(), &is_opaque); !known) return known;
        const bool is_hidden = pair.is_hidden || is_opaque;
        base::Result<std::vector<std::string>> names = names_in(sides_.layer, pair.path);
        if (!names) return names.error();
        std::set<std::string> here(names->begin(), names->end());
        if (is_hidden && had_directory) {
            base::Result<std::vector<std::string>> below = names_in(sides_.project, pair.path);
            if (!below) return below.error();
            here.insert(below->begin(), below->end());
        }
        if (is_clone()) {
            for (const std::string& path : sides_.listing->below(pair.path))
                here.emplace(base::base_name(path));
        }
        for (const std::string& name : here) {
            const std::string path = join(pair.path, name);
            bool is_in_layer = std::ranges::binary_search(*names, name);
            base::Status visited = is_in_layer ? visit(path, is_hidden) : delete_hidden(path);
            if (!visited) return visited;
        }
        return base::success();
    }

    base::Status delete_hidden(const std::string& path) {
        struct stat lower;
        if (int number = look(sides_.project, path, lower); number != 0)
            return number == ENOENT
                       ? base::success()
                       : base::Status(base::system_error("read " + base::printable(path), number));
        return add_deletion(path, lower);
    }

    // ---- The marks of the kernel

    // `is_opaque` is null for a file.
    base::Status check_marks(const std::string& path, int file, bool* is_opaque) const {
        ssize_t length = file < 0 || is_clone() ? 0 : ::flistxattr(file, nullptr, 0);
        if (length <= 0) return base::success();
        std::string list(static_cast<size_t>(length), '\0');
        length = ::flistxattr(file, list.data(), list.size());
        list.resize(length < 0 ? 0 : static_cast<size_t>(length));
        for (std::string_view name : base::split(list, '\0')) {
            if (!name.starts_with(kMark) || name.starts_with(kEscaped)) continue;
            if (std::ranges::find(kMeaningless, name) != std::end(kMeaningless)) continue;
            std::array<char, 8> value = {};
            bool is_yes = is_opaque != nullptr && name == "user.overlay.opaque" &&
                          ::fgetxattr(file, std::string(name).c_str(), value.data(), value.size()) == 1 &&
                          value[0] == 'y';
            if (!is_yes) return not_ours(path, "has the attribute " + base::printable(name));
            *is_opaque = true;
        }
        return base::success();
    }

    // ---- Comparison with the project

    base::Status compare_content(Change& change, bool& is_same) const {
        is_same = false;
        if (change.before.kind != change.after.kind) return base::success();
        if (change.after.kind == EntryKind::link) {
            base::Result<std::string> one = link_target(sides_.layer, change.path);
            base::Result<std::string> other = link_target(sides_.project, change.path);
            if (!one) return one.error();
            if (!other) return other.error();
            is_same = *one == *other;
            return base::success();
        }
        if (change.after.kind != EntryKind::file) return base::success();
        base::Fd one(open_below(sides_.layer, change.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        base::Fd other(open_below(sides_.project, change.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
        if (!one || !other || change.before.size != change.after.size) return base::success();
        const int compared = have_same_bytes(one.get(), other.get());
        if (compared < 0) return base::system_error("compare " + base::printable(change.path), -compared);
        is_same = compared == 1;
        return base::success();
    }

    // ---- Conflicts: no program can set a ctime, so a file with a ctime after the start has changed since.

    bool is_changed_outside(const std::string& path, const struct stat& status) const {
        if (is_clone()) {
            const Listed* listed = sides_.listing->find(path);
            if (listed != nullptr && listed->is_unchanged_outside(status)) return false;
        } else if (nanoseconds(status.st_ctim) <= sides_.start) {
            return false;
        }
        auto own = sides_.written.find(path);
        return own == sides_.written.end() || own->second.inode != status.st_ino ||
               own->second.modified != nanoseconds(status.st_mtim);
    }

    void find_own_conflict(Change& change, const std::string& path, const struct stat& status) const {
        if (is_changed_outside(path, status)) change.conflicts.push_back(path);
    }

    // For a directory everything below counts. The directory itself does not: its ctime changes with each
    // name that is made in it, and a new name is found.
    void find_conflicts(Change& change, const std::string& path, const struct stat& status) const {
        if (!S_ISDIR(status.st_mode)) return find_own_conflict(change, path, status);
        base::Result<std::vector<std::string>> names = names_in(sides_.project, path);
        if (!names) return change.conflicts.push_back(path);
        for (const std::string& name : *names) {
            struct stat below;
            const std::string below_path = join(path, name);
            if (look(sides_.project, below_path, below) == 0) find_conflicts(change, below_path, below);
        }
    }

    const Sides& sides_;
    std::vector<Change> changes_;
};

base::Status add_names(int project, const std::string& path, std::vector<std::string>& all) {
    base::Result<std::vector<std::string>> names = names_in(project, path);
    if (!names) return names.error();
    for (const std::string& name : *names) {
        const std::string below = join(path, name);
        all.push_back(below);
        struct stat status;
        if (look(project, below, status) != 0 || !S_ISDIR(status.st_mode)) continue;
        if (base::Status added = add_names(project, below, all); !added) return added;
    }
    return base::success();
}

void count_below(int directory, size_t most, size_t& count) {
    std::vector<std::string> directories;
    base::visit_entries(directory, [&](const struct dirent64& entry) {
        struct stat status;
        bool is_directory =
            ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
        if (is_directory) {
            directories.emplace_back(entry.d_name);
        } else {
            ++count;
        }
        return count < most;
    });
    for (const std::string& name : directories) {
        if (count >= most) return;
        base::Fd below(open_below(directory, name, O_RDONLY | O_DIRECTORY));
        if (below) count_below(below.get(), most, count);
    }
}

}  // namespace

size_t count_files(const std::string& files, size_t most) {
    size_t count = 0;
    base::Fd directory(::open(files.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) return count;
    if (is_tree_of_clone(files)) {
        base::Result<Listing> listing = Listing::load(parent_of(files));
        return listing ? listing->count_changes(directory.get(), most) : count;
    }
    count_below(directory.get(), most, count);
    return count;
}

base::Result<std::vector<Change>> find_changes(const Sides& sides) {
    return Walk(sides).run();
}

base::Result<std::vector<std::string>> names_below(int project, const std::string& path) {
    std::vector<std::string> all;
    if (base::Status added = add_names(project, path, all); !added) return added.error();
    return all;
}

}  // namespace layers
