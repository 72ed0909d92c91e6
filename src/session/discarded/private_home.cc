// SPDX-License-Identifier: MIT
#include "session/discarded/private_home.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "session/discarded/copy_tree.h"

namespace session {
namespace {

using plan::Mount;
using plan::MountKind;

// Lists of paths below the home directory that the report leaves out: caches, histories and the like.
constexpr std::string_view kLeftOut[] = {"home/caches", "home/not_kept"};

// firejail makes these in an empty home directory.
constexpr std::string_view kLaidByFirejail[] = {".bashrc", ".zshrc", ".cshrc"};

// What the launch itself put into the home directory, and what the lists leave out.
class Ground {
  public:
    explicit Ground(const plan::Plan& plan) {
        for (const Mount& mount : plan.mounts) {
            if (!mount.target.is_strictly_within(plan.private_home)) continue;
            const std::string relative(mount.target.relative_to(plan.private_home));
            laid_[relative] = &mount;
            add_parents(relative);
        }
        if (plan.backend == base::Backend::firejail) {
            for (std::string_view name : kLaidByFirejail) add_left_out(name);
        }
        for (std::string_view list : kLeftOut) {
            for (const config::DataRow& row : config::data_list(list)) add_left_out(row.entry);
        }
    }

    enum class Meaning { made_by_jail, entered, laid, left_out };
    Meaning of(const std::string& relative) const {
        if (laid_.contains(relative)) return Meaning::laid;
        if (left_out_.contains(relative) || matches_pattern(relative)) return Meaning::left_out;
        return entered_.contains(relative) ? Meaning::entered : Meaning::made_by_jail;
    }
    const Mount& mount_at(const std::string& relative) const { return *laid_.at(relative); }

  private:
    void add_parents(std::string_view relative) {
        for (size_t slash = relative.rfind('/'); slash != std::string_view::npos;
             slash = relative.rfind('/', slash - 1)) {
            entered_.emplace(relative.substr(0, slash));
            if (slash == 0) break;
        }
    }
    void add_left_out(std::string_view entry) {
        if (entry.ends_with('/')) entry.remove_suffix(1);
        add_parents(entry);
        base::has_wildcard(entry) ? void(patterns_.push_back(entry)) : void(left_out_.emplace(entry));
    }
    bool matches_pattern(const std::string& relative) const {
        return std::ranges::any_of(
            patterns_, [&](std::string_view pattern) { return base::matches_path(pattern, relative); });
    }

    std::map<std::string, const Mount*> laid_;
    std::set<std::string> entered_;  // directories above such a path
    std::set<std::string> left_out_;
    std::vector<std::string_view> patterns_;
};

// Finds the paths that the jail made: as few as possible, each complete.
class Search {
  public:
    Search(const plan::Plan& plan, const TreeWalk& walk, const PrivateHome::Limits& limits)
        : ground_(plan), walk_(walk), limits_(limits) {}

    void look_into(int directory, const std::string& relative, size_t depth) {
        if (depth > limits_.depth) return;
        base::visit_entries(directory, [&](const struct dirent64& entry) {
            struct stat status;
            if (!walk_.look_at(directory, entry.d_name, status)) return true;
            const std::string path = relative.empty() ? entry.d_name : relative + "/" + entry.d_name;
            if (is_to_enter(directory, path, status)) {
                base::Fd below = walk_.open_directory(directory, entry.d_name);
                if (below) look_into(below.get(), path, depth + 1);
            }
            return is_complete_ && !walk_.is_late();
        });
        is_complete_ = is_complete_ && !walk_.is_late();
    }

    std::vector<std::string> take() {
        std::ranges::sort(found_);
        return std::move(found_);
    }
    bool is_complete() const { return is_complete_; }

  private:
    bool is_to_enter(int directory, const std::string& path, const struct stat& status) {
        bool is_directory = S_ISDIR(status.st_mode);
        switch (ground_.of(path)) {
            case Ground::Meaning::left_out:
                return false;
            case Ground::Meaning::entered:
                if (!is_directory) add(path);
                return is_directory;
            case Ground::Meaning::laid:
                if (is_changed(directory, ground_.mount_at(path), status)) add(path);
                return is_directory && ground_.mount_at(path).kind == MountKind::directory;
            case Ground::Meaning::made_by_jail:
                add(path);
                return false;
        }
        return false;
    }

    // Most mounts have another device and do not get here. A mount point is an empty file or directory.
    static bool is_changed(int directory, const Mount& mount, const struct stat& status) {
        if (mount.kind != MountKind::file || !S_ISREG(status.st_mode)) return false;
        if (static_cast<size_t>(status.st_size) != mount.source.size()) return true;
        const std::string name(mount.target.name());
        base::Fd file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        base::Result<std::string> text = base::read_descriptor(file.get(), mount.source.size() + 1);
        return !text || *text != mount.source;
    }

    void add(const std::string& path) {
        if (found_.size() >= limits_.paths) {
            is_complete_ = false;
            return;
        }
        found_.push_back(path);
    }

    const Ground ground_;
    const TreeWalk& walk_;
    const PrivateHome::Limits& limits_;
    std::vector<std::string> found_;
    bool is_complete_ = true;
};

std::string too_much(const PrivateHome::Limits& limits) {
    return base::format("too much to keep: at most {} files and {} MiB", limits.files, limits.bytes >> 20);
}

// Counts each path, then copies them, the smallest first: one large path does not displace the others.
void count(Discarded& discarded, const TreeWalk& walk, int home, const PrivateHome::Limits& limits) {
    for (DiscardedPath& one : discarded.paths) {
        TreeWalk::Sum sum = walk.count(home, std::string(one.path.relative_to(discarded.home)), limits.files);
        one.files = sum.files;
        one.bytes = sum.bytes;
        one.unreadable = sum.unreadable;
        one.is_counted = sum.is_complete;
        if (sum.is_deep)
            one.obstacle = base::format("too deep to keep: at most {} directories", limits.depth);
    }
    // A directory without files is not a loss.
    std::erase_if(discarded.paths, [](const DiscardedPath& one) {
        return one.files == 0 && one.unreadable == 0 && one.is_counted;
    });
}

struct Route {
    const TreeWalk& walk;
    int from, to;
};

void copy(Discarded& discarded, const Route& route, const PrivateHome::Limits& limits) {
    std::vector<DiscardedPath*> order;
    for (DiscardedPath& one : discarded.paths) order.push_back(&one);
    std::ranges::stable_sort(order, std::ranges::less(), [](const DiscardedPath* one) { return one->bytes; });
    size_t files = 0;
    uint64_t bytes = 0;
    for (DiscardedPath* one : order) {
        bool fits =
            one->is_counted && files + one->files <= limits.files && bytes + one->bytes <= limits.bytes;
        if (!fits) {
            if (one->obstacle.empty()) one->obstacle = too_much(limits);
            continue;
        }
        TreeCopy tree(route.walk, {.keeps_modes = true, .replaces = true});
        base::Status copied =
            tree.copy(route.from, route.to, std::string(one->path.relative_to(discarded.home)));
        one->is_stored = copied.ok();
        if (!copied) one->obstacle = copied.error().line();
        if (!copied) continue;
        files += one->files;
        bytes += one->bytes;
    }
}

}  // namespace

std::optional<PrivateHome::Fill> PrivateHome::fill_of(int directory) {
    struct statfs status;
    bool is_known = ::fstatfs(directory, &status) == 0 && status.f_type == TMPFS_MAGIC && status.f_files > 0;
    if (!is_known) return std::nullopt;
    return Fill{status.f_files - status.f_ffree, status.f_blocks - status.f_bfree};
}

void PrivateHome::take(base::Fd directory) {
    if (!directory) return;
    directory_ = std::move(directory);
    at_start_ = fill_of(directory_.get());
    ::clock_gettime(CLOCK_REALTIME_COARSE, &started_);
}

// A file of the launch can change without a change of its size.
bool PrivateHome::is_untouched() const {
    if (!at_start_ || fill_of(directory_.get()) != at_start_) return false;
    return std::ranges::none_of(plan_.mounts, [&](const Mount& mount) {
        if (mount.kind != MountKind::file || !mount.target.is_strictly_within(plan_.private_home))
            return false;
        const std::string relative(mount.target.relative_to(plan_.private_home));
        struct stat status;
        if (::fstatat(directory_.get(), relative.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
        return std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec) >
               std::pair(started_.tv_sec, started_.tv_nsec);
    });
}

Discarded PrivateHome::save() {
    Discarded discarded{.session = session_, .project = plan_.project, .home = plan_.private_home};
    struct statfs kind;
    // Threat: a backend that showed the real home directory here would have it copied.
    bool is_private = directory_ && ::fstatfs(directory_.get(), &kind) == 0 && kind.f_type == TMPFS_MAGIC;
    if (is_private && !is_untouched()) store(discarded);
    directory_.reset();
    return discarded;
}

void PrivateHome::store(Discarded& discarded) const {
    const Limits limits;
    // A descriptor of its own: the supervisor's and the keeper's have one position.
    base::Fd home(::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const TreeWalk walk(home.get(), limits.depth, TreeWalk::Clock::now() + limits.time);
    Search search(plan_, walk, limits);
    search.look_into(home.get(), "", 0);
    discarded.is_complete = search.is_complete();
    for (const std::string& path : search.take())
        discarded.paths.push_back({.path = plan_.private_home / path, .obstacle = {}});
    count(discarded, walk, home.get(), limits);
    if (discarded.is_empty()) return;

    struct timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    discarded.ended = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    const std::string place = stored_home(state_directory_, session_);
    base::Status done = base::make_directories(place);
    // The supervisor and the keeper may both come here. The second takes what the first has stored.
    base::Fd turn(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (turn) (void)::flock(turn.get(), LOCK_EX);
    if (std::optional<Discarded> stored = stored_by(state_directory_, session_)) {
        discarded = *std::move(stored);
        return;
    }
    if (done) {
        base::Fd to(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        copy(discarded, {walk, home.get(), to.get()}, limits);
        done = write_about(state_directory_, discarded);
    }
    if (done) return limit_discarded(state_directory_, limits.bytes_of_all);
    for (DiscardedPath& one : discarded.paths) {
        one.is_stored = false;
        one.obstacle = done.error().line();
    }
}

}  // namespace session
