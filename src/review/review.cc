// SPDX-License-Identifier: MIT
#include "review/review.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/text.h"
#include "plan/project/git.h"
#include "review/git.h"
#include "review/known.h"
#include "review/names.h"
#include "review/walk.h"

namespace review {
namespace {

// Trees that tools fill: too large to walk, and their content runs only through files outside of them.
constexpr std::string_view kSkipped[] = {"node_modules", ".venv", "venv",    "__pycache__",  ".tox", "target",
                                         ".mypy_cache",  ".next", ".gradle", "site-packages"};

// Scripts of a package that npm runs at installation, without a request by the user.
constexpr std::string_view kScriptsAtInstallation[] = {"\"preinstall\"", "\"install\"", "\"postinstall\"",
                                                       "\"prepare\""};

class Walk {
  public:
    Walk(const Session& session, const Limits& limits)
        : session_(session),
          limits_(limits),
          known_(session.record, session.started),
          repositories_(session, known_, review_.findings),
          deadline_(std::chrono::steady_clock::now() + limits.time) {}

    Review look() {
        if (session_.layer) return look_at_layer();
        std::vector<base::Path> level{session_.project};
        for (size_t depth = 0; !level.empty(); ++depth) {
            std::vector<base::Path> next;
            for (base::Path& directory : level) {
                if (depth >= limits_.depth || is_over()) {
                    review_.unseen.push_back(std::move(directory));
                } else {
                    look_into(directory, next);
                }
            }
            level = std::move(next);
        }
        for (const base::Path& directory : session_.search_path) look_for_programs(directory);
        for (const base::Path& file : session_.git_configurations)
            look_at_programs({file, session_.project, true}, session_, known_, review_.findings);
        review_.earlier_runs = known_.earlier_runs();
        known_.save(review_.unseen.empty());
        return sorted();
    }

  private:
    // The lists, and programs that git's settings name. What apply holds back is not in the list of changes.
    Review look_at_layer() {
        review_.is_of_layer = true;
        for (const base::Path& path : session_.layer->changed) {
            const std::string_view relative = path.relative_to(session_.project);
            if (is_in_skipped(relative)) continue;
            std::optional<struct stat> status = review::look_at(file_of(path));
            if (!status || S_ISDIR(status->st_mode)) continue;
            look_at_file(path, {.text = std::string(path.name()), .is_link = S_ISLNK(status->st_mode)});
            look_at_head(path);
        }
        for (const base::Path& file : session_.git_configurations)
            look_at_programs({file, session_.project, true}, session_, known_, review_.findings);
        return sorted();
    }

    // Of a repository that is not in a directory ".git". What apply holds back is in the project's root.
    void look_at_head(const base::Path& path) {
        const base::Path directory = path.parent();
        const std::string_view relative = path.relative_to(session_.project);
        bool is_gits = relative.starts_with(".git/") || relative.find("/.git/") != std::string_view::npos;
        if (path.name() != plan::kBareHead || is_gits) return;
        auto is_there = [&](std::string_view name) {
            return review::look_at(file_of(directory / name)) || review::look_at(directory / name);
        };
        if (is_there("commondir") || (is_there("objects") && is_there("refs")))
            review_.findings.push_back(
                {Kind::git, path,
                 "makes a repository of its directory: git runs programs that its settings name"});
    }

    static bool is_in_skipped(std::string_view relative) {
        std::vector<std::string_view> parts = base::split(relative, '/');
        return std::ranges::any_of(parts.begin(), parts.end() - 1, [](std::string_view part) {
            return std::ranges::find(kSkipped, part) != std::end(kSkipped);
        });
    }

    // Where the content of a changed file is now.
    base::Path file_of(const base::Path& path) const {
        return session_.layer ? session_.layer->files / path.relative_to(session_.project) : path;
    }

    bool is_over() const { return seen_ > limits_.entries || std::chrono::steady_clock::now() > deadline_; }

    void look_into(const base::Path& directory, std::vector<base::Path>& next) {
        constexpr size_t kBetweenLooks = 4096;  // entries between two checks of the clock
        const size_t first = next.size();
        bool has_head = false, is_cut = false;
        bool is_read = visit_names(directory, [&](const Name& name) {
            if (++seen_ % kBetweenLooks == 0 && is_over()) is_cut = true;
            has_head = has_head || name.text == plan::kBareHead;
            look_at(directory, name, next);
            return !is_cut;
        });
        const bool is_git = directory.name() == ".git", is_whole = has_head && is_repository(directory);
        if (is_git || is_whole) repositories_.look_into(directory, directory.parent());
        // Threat: HEAD, objects and refs that are planted beside other directories would hide these
        // (tests/jail/review.bats). The walk skips only what git itself names.
        if (is_git && is_whole) next.resize(first);
        if (is_whole) return;
        if (!is_read || is_cut) review_.unseen.push_back(directory);
    }

    void look_at(const base::Path& directory, const Name& name, std::vector<base::Path>& next) {
        if (name.is_directory) {
            if (std::ranges::find(kSkipped, name.text) == std::end(kSkipped))
                next.push_back(directory / name.text);
        } else if (name.text == ".git") {
            repositories_.look_at_link(directory / name.text);
        } else {
            look_at_file(directory / name.text, name);
        }
    }

    bool is_new(const base::Path& path) {
        if (session_.layer) return session_.layer->changed.contains(path);
        std::optional<struct stat> status = review::look_at(path);
        return status && known_.is_new(path, *status);
    }

    void look_at_file(const base::Path& path, const Name& name) {
        std::string_view relative = path.relative_to(session_.project);
        Names::Match match = names_.find(relative, name.text);
        bool leads_on = match.row == nullptr && name.is_link;
        if (leads_on) match = names_.find_below(relative);
        if (match.row != nullptr) {
            std::string why = leads_on ? "a symbolic link to what would be " : "";
            bool is_instruction = match.row->reason.starts_with("instructions");
            bool needs_request = is_instruction || match.kind == Kind::pipeline || match.kind == Kind::build;
            if (is_new(path))
                review_.findings.push_back(
                    {match.kind, path, why + std::string(match.row->reason), needs_request});
        } else if (name.text == "package.json") {
            look_at_package(path);
        }
    }

    // Every session of a JavaScript project changes this file; only these scripts run automatically.
    void look_at_package(const base::Path& path) {
        if (!is_new(path)) return;
        std::optional<std::string> content = content_of(file_of(path));
        if (!content)
            return review_.findings.push_back({Kind::build, path, "a package that can't be read", true});
        for (std::string_view script : kScriptsAtInstallation) {
            if (content->find(script) == std::string::npos) continue;
            return review_.findings.push_back(
                {Kind::build, path, "has a script that npm runs at installation", true});
        }
    }

    // One finding for a directory: installing packages adds hundreds of programs.
    void look_for_programs(const base::Path& directory) {
        if (!directory.is_within(session_.project)) return;
        size_t count = 0;
        base::Path first;
        std::optional<std::vector<Name>> names = names_in(directory);
        if (!names) return review_.unseen.push_back(directory);
        for (const Name& name : *names) {
            std::optional<struct stat> status = review::look_at(directory / name.text);
            bool can_run =
                status && !name.is_directory && (S_ISLNK(status->st_mode) || (status->st_mode & 0111));
            if (!can_run || !known_.is_new(directory / name.text, *status)) continue;
            if (count++ == 0) first = directory / name.text;
        }
        if (count == 0) return;
        std::string others = count == 1 ? "" : base::format(" with {} more beside it", count - 1);
        review_.findings.push_back({Kind::on_path, first, "a program in a directory on your PATH" + others});
    }

    Review sorted() {
        auto in_order = [](const Finding& a, const Finding& b) {
            return std::tie(a.needs_request, a.kind, a.path, a.why) <
                   std::tie(b.needs_request, b.kind, b.path, b.why);
        };
        std::ranges::sort(review_.findings, in_order);
        std::ranges::sort(review_.unseen);
        auto same = [](const Finding& a, const Finding& b) { return a.path == b.path && a.why == b.why; };
        auto doubled = std::ranges::unique(review_.findings, same);
        review_.findings.erase(doubled.begin(), doubled.end());
        return std::move(review_);
    }

    const Session& session_;
    const Limits& limits_;
    const Names names_;
    Known known_;
    Review review_;
    Repositories repositories_;
    const std::chrono::steady_clock::time_point deadline_;
    size_t seen_ = 0;
};

// "src, vendor/lib and 12 more directories"
std::string unseen_text(const Review& review, const base::Path& project) {
    constexpr size_t kNamed = 3;
    constexpr size_t kLongest = 80;
    std::vector<std::string> names;
    for (const base::Path& path : review.unseen) {
        if (names.size() == kNamed) break;
        std::string name(path.relative_to(project));
        if (name.empty()) name = ".";
        if (name.size() > kLongest) name.replace(kLongest, std::string::npos, "...");
        names.push_back(base::printable(name));
    }
    size_t rest = review.unseen.size() - names.size();
    return base::join(names, ", ") + (rest == 0 ? "" : base::format(" and {} more directories", rest));
}

}  // namespace

timespec start() {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

Review look_back(const Session& session, const Limits& limits) {
    return Walk(session, limits).look();
}

void leave_to_next_review(const Session& session) {
    add_unreviewed(session.record, session.started);
}

std::vector<std::string> describe(const Review& review, const base::Path& project, size_t most) {
    std::vector<std::string> lines;
    size_t count = review.findings.size();
    const std::string since = review.is_of_layer         ? "in the layer: applied, they run outside the jail:"
                              : review.earlier_runs == 0 ? "in this session and run outside the jail:"
                                                         : "since the last review and run outside the jail:";
    if (count > 0)
        lines.push_back(base::format("look at these before you {}, new or changed {}",
                                     review.is_of_layer ? "apply" : "go on", since));
    for (const Finding& finding : review.findings) {
        if (lines.size() > most) break;
        lines.push_back(base::format("  {}: {}", base::printable(finding.path.relative_to(project)),
                                     base::printable(finding.why)));
    }
    if (count > most) {
        auto by_itself = std::ranges::count(review.findings.begin() + static_cast<ptrdiff_t>(most),
                                            review.findings.end(), false, &Finding::needs_request);
        std::string rest = base::format("  and {} more", count - most);
        if (by_itself > 0) rest += base::format(", {} of which run by themselves", by_itself);
        lines.push_back(std::move(rest));
    }
    if (!review.unseen.empty())
        lines.push_back("the review did not look at all of the project: not into " +
                        unseen_text(review, project));
    return lines;
}

}  // namespace review
