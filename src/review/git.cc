// SPDX-License-Identifier: MIT
#include "review/git.h"

#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/git_config.h"
#include "review/walk.h"

namespace review {
namespace {

constexpr int kDeepest = 8;

class Repository {
  public:
    Repository(const base::Path& path, const timespec& since, std::vector<Finding>& findings)
        : path_(path), since_(since), findings_(findings) {}

    void look() {
        look_at_hooks();
        look_at_configuration("config");
        look_at_configuration("config.worktree");
        look_at_common_directory();
        look_at_todo();
    }

  private:
    bool has_changed(const base::Path& path) const {
        std::optional<struct stat> status = look_at(path);
        return status && review::has_changed(*status, since_);
    }
    void add(const base::Path& path, std::string why) {
        findings_.push_back({Kind::git, path, std::move(why)});
    }

    void look_at_hooks() {
        for (const Name& name : names_in(path_ / "hooks")) {
            const base::Path hook = path_ / "hooks" / name.text;
            std::optional<struct stat> status = look_at(hook);
            bool can_run = status && !name.is_directory && !name.text.ends_with(".sample") &&
                           (S_ISLNK(status->st_mode) || (status->st_mode & 0111));
            if (can_run && review::has_changed(*status, since_)) add(hook, "a hook that git runs");
        }
        std::optional<struct stat> link = look_at(path_ / "hooks");
        if (link && S_ISLNK(link->st_mode) && review::has_changed(*link, since_))
            add(path_ / "hooks", "leads git to hooks elsewhere");
    }

    void look_at_configuration(std::string_view name) {
        const base::Path file = path_ / name;
        if (!has_changed(file)) return;
        std::optional<std::string> content = content_of(file);
        if (!content) return add(file, "a configuration that can't be read");
        for (const plan::GitSetting& setting : plan::parse_git_config(*content)) {
            for (const config::DataRow& row : config::data_list("review/git_keys")) {
                if (!base::matches_name(row.entry, setting.key) || is_harmless(setting)) continue;
                add(file, setting.key + ": " + std::string(row.reason));
                return;
            }
        }
    }

    // What git itself writes for submodules and worktrees.
    bool is_harmless(const plan::GitSetting& setting) const {
        if (setting.key == "core.worktree") return path_.str().find("/modules/") != std::string::npos;
        if (setting.key.starts_with("alias.")) return !setting.value.starts_with('!');
        if (setting.key.starts_with("submodule.")) return !setting.value.starts_with('!');
        return setting.key == "core.fsmonitor" && (setting.value == "false" || setting.value == "true");
    }

    void look_at_common_directory() {
        const base::Path file = path_ / "commondir";
        if (!has_changed(file)) return;
        std::optional<std::string> content = content_of(file);
        std::string_view text = content ? base::trim(*content) : "";
        bool is_usual = text == "." || (path_.parent().name() == "worktrees" && text == "../..");
        if (!is_usual) add(file, "leads git to other hooks and another configuration");
    }

    void look_at_todo() {
        const base::Path file = path_ / "rebase-merge/git-rebase-todo";
        if (!has_changed(file)) return;
        std::optional<std::string> content = content_of(file);
        if (!content) return;
        for (std::string_view line : base::split(*content, '\n')) {
            std::string_view text = base::trim(line);
            if (text.starts_with("exec ") || text.starts_with("x "))
                return add(file, "run by 'git rebase --continue'");
        }
    }

    const base::Path& path_;
    const timespec& since_;
    std::vector<Finding>& findings_;
};

void look_into_modules(const base::Path& modules, const timespec& since, std::vector<Finding>& findings,
                       int depth) {
    if (depth > kDeepest) return;
    for (const Name& name : names_in(modules)) {
        const base::Path directory = modules / name.text;
        if (!name.is_directory) continue;
        if (is_repository(directory)) {
            look_into_repository(directory, since, findings);
        } else {
            look_into_modules(directory, since, findings, depth + 1);
        }
    }
}

}  // namespace

bool is_repository(const base::Path& directory) {
    return is_directory(directory / "objects") && is_directory(directory / "refs") &&
           look_at(directory / "HEAD");
}

void look_into_repository(const base::Path& repository, const timespec& since,
                          std::vector<Finding>& findings) {
    Repository(repository, since, findings).look();
    look_into_modules(repository / "modules", since, findings, 0);
    for (const Name& name : names_in(repository / "worktrees")) {
        if (!name.is_directory) continue;
        const base::Path worktree = repository / "worktrees" / name.text;
        Repository(worktree, since, findings).look();
        look_into_modules(worktree / "modules", since, findings, 0);
    }
}

void look_at_link(const base::Path& link, const Session& session, std::vector<Finding>& findings) {
    std::optional<struct stat> status = look_at(link);
    if (!status || !has_changed(*status, session.started)) return;
    std::optional<std::string> content = content_of(link);
    constexpr std::string_view kPrefix = "gitdir:";
    if (!content || !content->starts_with(kPrefix)) return;
    std::string_view text = base::trim(std::string_view(*content).substr(kPrefix.size()));
    const base::Path directory = text.starts_with('/') ? base::Path() / text : link.parent() / text;
    if (!directory.is_within(session.project)) {
        findings.push_back({Kind::git, link, "leads git to " + base::printable(directory.str())});
    } else if (is_repository(directory)) {
        look_into_repository(directory, session.started, findings);
    }
}

}  // namespace review
