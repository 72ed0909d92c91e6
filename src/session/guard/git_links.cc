// SPDX-License-Identifier: MIT
// Theory of operation. Every directory of a repository is read, except those of objects, whose files git
// never writes again. A link counts as the session's by the time of its last change, which a program can't
// set. It stays if it ends in the repository. A link to a file of the project does not stay: the next session
// could make that file a link.
//
// Threat: .git/COMMIT_EDITMSG -> ~/.bashrc and a text in MERGE_MSG. The user's next `git commit` writes that
// text to ~/.bashrc (tests/jail/git_links.bats).
#include "session/guard/git_links.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"

namespace session {
namespace {

// Further ones are removed: a link has no content of its own.
constexpr size_t kMostLinksAside = 16;
// Each level needs two descriptors. git has fewer.
constexpr int kDeepestLevel = 64;

std::string real_path(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    std::string text = real == nullptr ? "" : real;
    std::free(real);
    return text;
}

std::string descriptor_path(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

bool is_upward(std::string_view target) {
    return target.starts_with('/') || ("/" + std::string(target) + "/").find("/../") != std::string::npos;
}

class Walk {
  public:
    explicit Walk(const GitLinkSearch& search) : search_(search), store_(search.state_directory) {}

    void look_into(const base::Fd& place, const base::Path& path) {
        const OpenForMove open(place.get());
        base::Fd git(::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!git) return;
        git_ = real_path(descriptor_path(git.get())) + "/";
        look(git.get(), path, 0);
    }

    std::vector<MovedName> take() {
        if (removed_ > 0 && !moved_.empty())
            moved_.front().why += base::format("; {} more links were removed", removed_);
        return std::move(moved_);
    }

  private:
    void look(int directory, const base::Path& path, int depth) {
        std::vector<std::string> links, directories;
        base::visit_entries(directory, [&](const struct dirent64& entry) {
            const std::string name = entry.d_name;
            if (name == "." || name == "..") return true;
            struct stat status;
            bool is_told = entry.d_type == DT_LNK || entry.d_type == DT_DIR;
            mode_t type = is_told ? DTTOIF(entry.d_type) : 0;
            if (entry.d_type == DT_UNKNOWN &&
                ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
                type = status.st_mode & S_IFMT;
            if (type == S_IFLNK) links.push_back(name);
            if (type == S_IFDIR) directories.push_back(name);
            return true;
        });
        for (const std::string& name : links) judge(directory, path, name);
        if (depth == kDeepestLevel) return;
        for (const std::string& name : directories) enter(directory, path / name, depth);
    }

    void enter(int above, const base::Path& path, int depth) {
        const std::string name(path.name());
        bool is_of_repository = ::faccessat(above, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
        if (name == "objects" && is_of_repository) return;
        base::Fd place(::openat(above, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        const OpenForMove open(place.get());
        base::Fd directory(::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (directory) look(directory.get(), path, depth + 1);
    }

    void judge(int directory, const base::Path& path, const std::string& name) {
        struct stat status;
        if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
        const auto changed = std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
        bool is_new = changed >= std::pair(search_.since.tv_sec, search_.since.tv_nsec);
        if (!S_ISLNK(status.st_mode) || !is_new || stays_in_git(directory, name)) return;
        const OpenForMove open(directory);
        if (moved_.size() == kMostLinksAside) {
            if (::unlinkat(directory, name.c_str(), 0) == 0) ++removed_;
            return;
        }
        MovedName moved =
            store_.take(directory, {.path = path / name,
                                    .project = search_.path,
                                    .why = "a symbolic link that leads git out of the repository",
                                    .session = search_.session,
                                    .time = static_cast<int64_t>(::time(nullptr))});
        if (!moved.place.is_root()) moved_.push_back(std::move(moved));
    }

    // A missing target is judged by its text: git itself can make HEAD a link to a branch without a commit.
    bool stays_in_git(int directory, const std::string& name) const {
        const std::string real = real_path(descriptor_path(directory) + "/" + name);
        if (!real.empty()) return (real + "/").starts_with(git_);
        char target[PATH_MAX];
        const ssize_t length = ::readlinkat(directory, name.c_str(), target, sizeof target);
        return length > 0 && !is_upward({target, static_cast<size_t>(length)});
    }

    const GitLinkSearch& search_;
    AsideStore store_;
    std::string git_;
    std::vector<MovedName> moved_;
    uint64_t removed_ = 0;
};

}  // namespace

std::vector<base::Path> git_directories(const std::vector<backends::Cover>& covers) {
    std::set<base::Path> directories;
    for (const backends::Cover& cover : covers) {
        if (cover.kind == backends::Cover::Kind::readonly && cover.outside.name() == "commondir")
            directories.insert(cover.outside.parent());
    }
    return {directories.begin(), directories.end()};
}

std::vector<MovedName> move_git_links(const GitLinkSearch& search) {
    Walk walk(search);
    const base::Path own = search.path / ".git";
    base::Fd git(::openat(search.project, ".git", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (git) walk.look_into(git, own);
    for (const base::Path& path : search.others) {
        if (path.is_within(own)) continue;
        base::Fd other(base::open_without_links(path, O_PATH | O_DIRECTORY));
        if (other) walk.look_into(other, path);
    }
    return walk.take();
}

}  // namespace session
