// SPDX-License-Identifier: MIT
#include "review/review.h"

#include <algorithm>

#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"
#include "review/git.h"
#include "review/walk.h"

namespace review {
namespace {

// Trees that tools fill: too large to walk, and what is in them runs through files outside of them.
constexpr std::string_view kSkipped[] = {"node_modules", ".venv", "venv",    "__pycache__",  ".tox", "target",
                                         ".mypy_cache",  ".next", ".gradle", "site-packages"};

struct NameList {
    std::string_view name;
    Kind kind;
};
constexpr NameList kLists[] = {
    {"review/start_up", Kind::start_up},
    {"review/pipelines", Kind::pipeline},
    {"review/build", Kind::build},
};

// Scripts of a package that run when it is installed, not when somebody asks for them.
constexpr std::string_view kScriptsAtInstallation[] = {"\"preinstall\"", "\"install\"", "\"postinstall\"",
                                                       "\"prepare\""};

// An entry with a slash is a path from the project's root, one without matches a name anywhere.
bool matches(std::string_view entry, std::string_view relative, std::string_view name) {
    bool is_path = entry.find('/') != std::string_view::npos;
    return is_path ? base::matches_path(entry, relative) : base::matches_name(entry, name);
}

class Walk {
  public:
    Walk(const Session& session, const Limits& limits) : session_(session), limits_(limits) {}

    Review look() {
        std::vector<base::Path> level{session_.project};
        for (size_t depth = 0; !level.empty(); ++depth) {
            if (depth >= limits_.depth) {
                review_.is_complete = false;
                break;
            }
            std::vector<base::Path> next;
            for (const base::Path& directory : level) {
                if (seen_ <= limits_.entries) look_into(directory, next);
            }
            level = std::move(next);
        }
        for (const base::Path& directory : session_.search_path) look_for_programs(directory);
        return sorted();
    }

  private:
    void look_into(const base::Path& directory, std::vector<base::Path>& next) {
        std::vector<Name> names = names_in(directory);
        auto has = [&](std::string_view name) {
            return std::ranges::find(names, name, &Name::text) != names.end();
        };
        bool may_be_repository = has("HEAD") && has("objects") && has("refs");
        if (may_be_repository && is_repository(directory)) {
            return look_into_repository(directory, session_.started, review_.findings);
        }
        for (const Name& name : names) {
            if (++seen_ > limits_.entries) {
                review_.is_complete = false;
                return next.clear();
            }
            const base::Path path = directory / name.text;
            if (name.is_directory) {
                if (std::ranges::find(kSkipped, name.text) == std::end(kSkipped)) next.push_back(path);
            } else if (name.text == ".git") {
                look_at_link(path, session_, review_.findings);
            } else {
                look_at_file(path, name.text);
            }
        }
    }

    bool has_changed(const base::Path& path) const {
        std::optional<struct stat> status = look_at(path);
        return status && review::has_changed(*status, session_.started);
    }

    void look_at_file(const base::Path& path, std::string_view name) {
        std::string_view relative = path.relative_to(session_.project);
        for (const NameList& list : kLists) {
            for (const config::DataRow& row : config::data_list(list.name)) {
                if (!matches(row.entry, relative, name)) continue;
                if (has_changed(path)) review_.findings.push_back({list.kind, path, std::string(row.reason)});
                return;
            }
        }
        if (name == "package.json") look_at_package(path);
    }

    // Every session of a JavaScript project changes this file; only these scripts run unasked.
    void look_at_package(const base::Path& path) {
        if (!has_changed(path)) return;
        std::optional<std::string> content = content_of(path);
        if (!content) return;
        for (std::string_view script : kScriptsAtInstallation) {
            if (content->find(script) == std::string::npos) continue;
            return review_.findings.push_back(
                {Kind::build, path, "has a script that npm runs at installation"});
        }
    }

    // One finding for a directory: an installation of packages brings hundreds.
    void look_for_programs(const base::Path& directory) {
        if (!directory.is_within(session_.project)) return;
        size_t count = 0;
        base::Path first;
        for (const Name& name : names_in(directory)) {
            std::optional<struct stat> status = look_at(directory / name.text);
            bool can_run =
                status && !name.is_directory && (S_ISLNK(status->st_mode) || (status->st_mode & 0111));
            if (!can_run || !review::has_changed(*status, session_.started)) continue;
            if (count++ == 0) first = directory / name.text;
        }
        if (count == 0) return;
        std::string others = count == 1 ? "" : " with " + std::to_string(count - 1) + " more beside it";
        review_.findings.push_back({Kind::on_path, first, "a program in a directory on your PATH" + others});
    }

    Review sorted() {
        auto in_order = [](const Finding& a, const Finding& b) {
            return a.kind != b.kind ? a.kind < b.kind : a.path != b.path ? a.path < b.path : a.why < b.why;
        };
        std::ranges::sort(review_.findings, in_order);
        auto same = [](const Finding& a, const Finding& b) { return a.path == b.path && a.why == b.why; };
        auto doubled = std::ranges::unique(review_.findings, same);
        review_.findings.erase(doubled.begin(), doubled.end());
        return std::move(review_);
    }

    const Session& session_;
    const Limits& limits_;
    Review review_;
    size_t seen_ = 0;
};

}  // namespace

timespec start() {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

Review look_back(const Session& session, const Limits& limits) {
    return Walk(session, limits).look();
}

std::vector<std::string> describe(const Review& review, const base::Path& project, size_t most) {
    std::vector<std::string> lines;
    size_t count = review.findings.size();
    if (count == 0) return lines;
    lines.emplace_back(
        "look at these before you go on, new or changed in this session and run outside the jail:");
    for (const Finding& finding : review.findings) {
        if (lines.size() > most) break;
        lines.push_back("  " + base::printable(finding.path.relative_to(project)) + ": " +
                        base::printable(finding.why));
    }
    if (count > most) lines.push_back("  and " + std::to_string(count - most) + " more");
    if (!review.is_complete)
        lines.emplace_back("  the project is large: what lies deep in it was not looked at");
    return lines;
}

}  // namespace review
