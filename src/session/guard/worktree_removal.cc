// SPDX-License-Identifier: MIT
// Theory of operation. `git worktree remove` removes the content of the working tree in the order of the
// directory, then the working tree itself, then the same for .git/worktrees/NAME. The covered names must stay
// covered while their directory exists, because a process inside could put another file in their place. So
// git's unlink() of such a name succeeds and changes nothing yet. When git removes the directory and nothing
// else is left in it, the keeper removes the names and the directory outside, and the kernel detaches their
// covers in every jail (since Linux 3.18). If git stops halfway, the names are still there.
//
// Afterwards the names are free, as they are for a new worktree or a new clone in the project, and are no
// longer covered.
//
// Threat: git outside follows the file ".git" of a working tree to .git/worktrees/NAME. A session that could
// remove that directory alone would make it again with another "commondir". So it can be removed only after
// the working tree, and only if each of the two names the other. Both names are covered from the start on
// (tests/jail/git_worktrees.bats).
#include "session/guard/worktree_removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"

namespace session {
namespace {

using doorman::Answer;

constexpr size_t kLongestLink = size_t{2} * PATH_MAX;
constexpr std::string_view kLink = ".git";

bool is_directory_at(const base::Path& path, int directory) {
    base::Fd fd(base::open_without_links(path, O_PATH | O_DIRECTORY));
    struct stat of_path, of_directory;
    return fd && ::fstat(fd.get(), &of_path) == 0 && ::fstat(directory, &of_directory) == 0 &&
           of_path.st_dev == of_directory.st_dev && of_path.st_ino == of_directory.st_ino;
}

// The path in the only line of a file, after `prefix`; nothing if it is not such a file.
std::optional<base::Path> path_in(const base::Path& file, std::string_view prefix) {
    base::Fd fd(base::open_without_links(file, O_RDONLY | O_NONBLOCK));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    base::Result<std::string> text = base::read_descriptor(fd.get(), kLongestLink);
    if (!text || !text->starts_with(prefix)) return std::nullopt;
    std::string_view path = std::string_view(*text).substr(prefix.size());
    path = path.substr(0, path.find('\n'));
    if (path.empty()) return std::nullopt;
    // Since git 2.48 both can be relative to the directory of the file.
    return path.starts_with('/') ? base::Path() / path : file.parent() / path;
}

// Whether the working tree and the directory in the repository name each other.
bool is_pair(const base::Path& tree, const base::Path& directory) {
    return path_in(tree / kLink, "gitdir: ") == directory &&
           path_in(directory / "gitdir", "") == tree / kLink;
}

// Only for git an unlink() succeeds before the file is gone; every other program gets the kernel's error.
bool is_git(pid_t thread) {
    char program[PATH_MAX];
    const std::string link = "/proc/" + std::to_string(thread) + "/exe";
    const ssize_t length = ::readlink(link.c_str(), program, sizeof program);
    if (length <= 0) return false;
    const std::string_view path(program, static_cast<size_t>(length));
    return path.substr(path.rfind('/') + 1).starts_with("git");
}

// Removes a directory in which only these names are left. Zero or an errno.
int remove_directory(const base::Path& path, const std::set<std::string>& names) {
    base::Fd above(base::open_without_links(path.parent(), O_PATH | O_DIRECTORY));
    base::Fd directory(base::open_without_links(path, O_RDONLY | O_DIRECTORY));
    if (!above || !directory) return EBUSY;
    bool has_more = false;
    bool is_read = base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        has_more = !names.contains(entry.d_name);
        return !has_more;
    });
    if (has_more) return ENOTEMPTY;
    if (!is_read) return EBUSY;
    for (const std::string& name : names) {
        if (::unlinkat(directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) return errno;
    }
    const std::string name(path.name());
    return ::unlinkat(above.get(), name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

}  // namespace

void WorktreeRemoval::find(const std::vector<backends::Cover>& covers) {
    auto is_covered = [&](const base::Path& path) {
        return std::ranges::any_of(covers, [&](const backends::Cover& cover) {
            return cover.kind == backends::Cover::Kind::readonly && cover.outside == path;
        });
    };
    for (const backends::Cover& cover : covers) {
        const base::Path directory = cover.outside.parent();
        bool is_named = cover.kind == backends::Cover::Kind::readonly && cover.outside.name() == "gitdir" &&
                        directory.parent().name() == "worktrees";
        std::optional<base::Path> link = is_named ? path_in(cover.outside, "") : std::nullopt;
        bool is_worktree = link && link->name() == kLink && is_covered(*link) &&
                           is_covered(directory / "commondir") && is_pair(link->parent(), directory);
        if (!is_worktree) continue;
        Worktree worktree{.tree = link->parent(), .directory = directory};
        for (const backends::Cover& own : covers) {
            if (own.outside.parent() == directory) worktree.own.emplace(own.outside.name());
        }
        worktrees_.push_back(std::move(worktree));
    }
}

bool WorktreeRemoval::is_judged(std::string_view name, bool is_rmdir) const {
    return std::ranges::any_of(worktrees_, [&](const Worktree& worktree) {
        if (!is_rmdir) return name == kLink || worktree.own.contains(std::string(name));
        return name == worktree.tree.name() || name == worktree.directory.name() ||
               name == worktree.directory.parent().name();
    });
}

// What a removal does not concern is answered with "proceed": the kernel refuses it, with EBUSY.
Answer WorktreeRemoval::answer(const doorman::Removal& removal) {
    for (Worktree& worktree : worktrees_) {
        Answer answer = removal.is_rmdir ? answer_rmdir(worktree, removal) : answer_unlink(worktree, removal);
        if (answer.kind != Answer::Kind::proceeds) return answer;
    }
    return Answer::proceed();
}

Answer WorktreeRemoval::answer_unlink(Worktree& worktree, const doorman::Removal& removal) {
    if (!worktree.is_tree_gone) {
        bool is_link = removal.name == kLink && is_directory_at(worktree.tree, removal.directory);
        if (!is_link || !is_git(removal.thread)) return Answer::proceed();
        worktree.has_unlinked = true;
        return Answer::of(0);
    }
    bool is_own = !worktree.is_directory_gone && worktree.own.contains(removal.name) &&
                  is_directory_at(worktree.directory, removal.directory) && is_git(removal.thread);
    if (!is_own) return Answer::proceed();
    worktree.unlinked.insert(removal.name);
    return Answer::of(0);
}

Answer WorktreeRemoval::answer_rmdir(Worktree& worktree, const doorman::Removal& removal) {
    auto is_meant = [&](const base::Path& path) {
        return removal.name == path.name() && is_directory_at(path.parent(), removal.directory);
    };
    // Threat: the user has moved the working tree since the start, and needs the directory at its new place.
    if (worktree.has_unlinked && !worktree.is_tree_gone && is_meant(worktree.tree)) {
        if (!is_pair(worktree.tree, worktree.directory)) return Answer::proceed();
        const int error = remove_directory(worktree.tree, {std::string(kLink)});
        worktree.is_tree_gone = error == 0;
        if (error == 0) removed_.push_back({worktree.tree, true});
        return Answer::of(error);
    }
    if (worktree.is_tree_gone && !worktree.is_directory_gone && is_meant(worktree.directory)) {
        if (path_in(worktree.directory / "gitdir", "") != worktree.tree / kLink) return Answer::proceed();
        const int error = remove_directory(worktree.directory, worktree.unlinked);
        worktree.is_directory_gone = error == 0;
        if (error == 0) removed_.push_back({worktree.directory});
        return Answer::of(error);
    }
    // git removes the directory of all worktrees after the last one.
    if (worktree.is_directory_gone && is_meant(worktree.directory.parent())) {
        const int error = remove_directory(worktree.directory.parent(), {});
        if (error == 0) removed_.push_back({worktree.directory.parent()});
        return Answer::of(error);
    }
    return Answer::proceed();
}

std::vector<WorktreeRemoval::Removed> WorktreeRemoval::take_removed() {
    return std::exchange(removed_, {});
}

}  // namespace session
