// SPDX-License-Identifier: MIT
#include "layers/held.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "base/path.h"
#include "base/text.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr std::string_view kGit = ".git";

class Holder {
  public:
    Holder(const HeldRules& rules, const Sides& sides) : rules_(rules), sides_(sides) {}

    std::string reason(const Change& change) const {
        for (const HeldRules::Entry& entry : rules_.names) {
            if (concerns(entry.path, change.path, change)) return "protected: " + entry.why;
        }
        if (std::string why = reason_of_git(change); !why.empty()) return why;
        if (change.after.kind == EntryKind::link && leads_out(change.path))
            return "a link that leaves the project";
        return reason_of_path(change);
    }

  private:
    // Threat: a link is a program too, and a link in place of the directory brings its own programs
    // (tests/jail/cow_attacks.bats).
    std::string reason_of_path(const Change& change) const {
        const bool is_link = change.after.kind == EntryKind::link;
        const bool can_run =
            is_link || (change.after.kind == EntryKind::file && (change.after.mode & 0111) != 0);
        const std::string parent = parent_of(change.path);
        for (const std::string& directory : rules_.program_directories) {
            if (can_run && parent == directory) return "a program in a directory of your PATH";
            if (is_link && is_within(directory, change.path))
                return "a link in place of a directory of your PATH";
        }
        bool is_way = change.after.exists() &&
                      std::ranges::find(rules_.program_links, change.path) != rules_.program_links.end();
        return is_way ? "it leads to a directory of your PATH" : "";
    }

    // The entry itself or something below it; or something above it that is not a directory afterwards: its
    // removal would remove the name, and a link there would give it another content.
    static bool concerns(const std::string& entry, const std::string& path, const Change& change) {
        for (std::string_view above = path; !above.empty();) {
            if (base::matches_path(entry, above)) return true;
            size_t slash = above.rfind('/');
            above = slash == std::string_view::npos ? std::string_view() : above.substr(0, slash);
        }
        if (change.after.kind == EntryKind::directory) return false;
        for (std::string above = parent_of(entry); !above.empty(); above = parent_of(above)) {
            if (base::matches_path(above, path)) return true;
        }
        return false;
    }

    std::string reason_of_git(const Change& change) const {
        size_t begin = 0;
        while (begin <= change.path.size()) {
            size_t slash = std::min(change.path.find('/', begin), change.path.size());
            if (change.path.compare(begin, slash - begin, kGit) == 0) {
                std::string_view rest =
                    std::string_view(change.path).substr(std::min(slash + 1, change.path.size()));
                if (std::string why = reason_in_git(rest, change); !why.empty()) return why;
            }
            begin = slash + 1;
        }
        return "";
    }

    // `rest` is relative to the directory of git; empty: that directory itself.
    std::string reason_in_git(std::string_view rest, const Change& change) const {
        if (rest.empty())
            return change.after.kind == EntryKind::directory ? "" : "protected: it leads git to a repository";
        if (change.after.kind == EntryKind::link && leads_up(change.path))
            return "a link that leads git out of the repository";
        // Repositories of submodules, and directories of worktrees, have such names too.
        bool is_nested = rest.starts_with("modules/") || rest.starts_with("worktrees/");
        for (std::string_view part = rest;;) {
            for (const HeldRules::Entry& entry : rules_.git_names) {
                if (concerns(entry.path, std::string(part), change)) return "protected: " + entry.why;
            }
            size_t slash = part.find('/');
            if (!is_nested || slash == std::string_view::npos) return "";
            part.remove_prefix(slash + 1);
        }
    }

    // Threat: git outside writes through links in .git, and a later session can make the file a link that
    // leaves the project (tests/jail/cow.bats).
    bool leads_up(const std::string& path) const {
        base::Result<std::string> target = link_target(sides_.layer, path);
        return !target || target->starts_with('/') || ("/" + *target + "/").find("/../") != std::string::npos;
    }

    // By its text, and only over directories: another link on the way could lead anywhere.
    bool leads_out(const std::string& path) const {
        base::Result<std::string> target = link_target(sides_.layer, path);
        if (!target || target->starts_with('/')) return true;
        std::string at = parent_of(path);
        for (std::string_view part : base::split(*target, '/')) {
            if (part.empty() || part == ".") continue;
            if (part == "..") {
                if (at.empty()) return true;
                at = parent_of(at);
                continue;
            }
            if (!at.empty() && (is_link(sides_.layer, at) || is_link(sides_.project, at))) return true;
            at = join(at, part);
        }
        return false;
    }

    static bool is_link(int root, const std::string& path) {
        struct stat status;
        return look(root, path, status) == 0 && S_ISLNK(status.st_mode);
    }

    const HeldRules& rules_;
    const Sides& sides_;
};

}  // namespace

void hold_back(const HeldRules& rules, const Sides& sides, std::vector<Change>& changes) {
    const Holder holder(rules, sides);
    for (Change& change : changes) change.held = holder.reason(change);
}

}  // namespace layers
