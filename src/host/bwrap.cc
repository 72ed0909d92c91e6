// SPDX-License-Identifier: MIT
// Threat: a bwrap that someone else can replace is someone else's program, run with the caller's rights and
// trusted to build the jail. So PATH is never searched, and a candidate counts only if none but root could
// have put it there (tests/host/bwrap_test.cc).
#include <unistd.h>

#include <algorithm>

#include "host/facts.h"

namespace host {
namespace {

constexpr std::string_view kPlaces[] = {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"};
constexpr std::string_view kInstall = "install bubblewrap: apt install bubblewrap / dnf install bubblewrap";
constexpr uint32_t kUnmappedOwner = 65534;

Bwrap rejected(BwrapState state, const base::Path& path, const std::string& problem) {
    return Bwrap{.state = state, .path = path, .problem = problem};
}

std::string owner_problem(const base::Path& path, uint32_t owner) {
    std::string text =
        path.str() + " is owned by uid " + std::to_string(owner) + ": only a root-owned bwrap is run";
    if (owner == kUnmappedOwner)
        return text + "; inside another user namespace root can't be told from others";
    return text + "; " + std::string(kInstall);
}

// Why someone other than `trusted_owner` could change the file at this physical path; empty where nobody
// could.
std::string find_untrusted(const Tree& tree, const base::Path& program, uint32_t trusted_owner) {
    for (base::Path path = program;; path = path.parent()) {
        std::optional<Node> node = tree.look(path);
        if (!node) return path.str() + " can't be examined: only a root-owned bwrap is run";
        if (node->owner != trusted_owner) return owner_problem(path, node->owner);
        if ((node->mode & 0022) != 0) {
            return path.str() +
                   " is writable by others than root: such a bwrap is not run; ask the administrator to run: "
                   "chmod go-w " +
                   path.str();
        }
        if (path.is_root()) return {};
    }
}

Bwrap examine(const Tree& tree, const base::Path& place, uint32_t trusted_owner) {
    base::Result<Tree::Resolved> resolved = tree.resolve(place);
    std::optional<Node> node = resolved && resolved->exists ? tree.look(resolved->path) : std::nullopt;
    if (!node)
        return rejected(BwrapState::missing, place,
                        place.str() + " does not exist; " + std::string(kInstall));

    const base::Path& path = resolved->path;
    if (node->kind != Kind::file) {
        return rejected(BwrapState::not_executable, path,
                        path.str() + " is not a program; " + std::string(kInstall));
    }
    if (std::string problem = find_untrusted(tree, path, trusted_owner); !problem.empty()) {
        return rejected(BwrapState::untrusted, path, problem);
    }
    if ((node->mode & 0111) == 0) {
        return rejected(BwrapState::not_executable, path,
                        path.str() + " is not executable; " + std::string(kInstall));
    }
    return Bwrap{.state = BwrapState::usable, .path = path, .is_setuid = (node->mode & 04000) != 0};
}

}  // namespace

Bwrap find_bwrap(const Tree& tree, const std::optional<base::Path>& pinned, uint32_t trusted_owner) {
    if (pinned) return examine(tree, *pinned, trusted_owner);
    Bwrap best{.problem = "bubblewrap (bwrap) is not installed; " + std::string(kInstall)};
    for (std::string_view place : kPlaces) {
        Bwrap found = examine(tree, base::Path::known(place), trusted_owner);
        if (found.state == BwrapState::usable) return found;
        if (best.state == BwrapState::missing && found.state != BwrapState::missing) best = found;
    }
    return best;
}

Bwrap find_bwrap(const std::optional<base::Path>& pinned) {
    return find_bwrap(DiskTree(), pinned);
}

std::string_view to_text(BwrapState state) {
    switch (state) {
        case BwrapState::usable:
            return "usable";
        case BwrapState::missing:
            return "missing";
        case BwrapState::untrusted:
            return "untrusted";
        case BwrapState::not_executable:
            return "not-executable";
    }
    return "";
}

}  // namespace host
