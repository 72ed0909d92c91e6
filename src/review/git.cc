// SPDX-License-Identifier: MIT
#include "review/git.h"

#include "base/format.h"
#include "base/text.h"
#include "plan/project/git_config.h"
#include "review/walk.h"

namespace review {
namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kUnreadable = "a directory of git's that can't be looked into";

class Repository {
  public:
    Repository(const base::Path& path, Known& known, std::vector<Finding>& findings)
        : path_(path), known_(known), findings_(findings) {}

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
        return status && known_.is_new(path, *status);
    }
    void add(const base::Path& path, std::string why) {
        findings_.push_back({Kind::git, path, std::move(why)});
    }

    void look_at_hooks() {
        std::optional<std::vector<Name>> names = names_in(path_ / "hooks");
        if (!names) return add(path_ / "hooks", std::string(kUnreadable));
        for (const Name& name : *names) {
            const base::Path hook = path_ / "hooks" / name.text;
            std::optional<struct stat> status = look_at(hook);
            bool can_run = status && !name.is_directory && !name.text.ends_with(".sample") &&
                           (S_ISLNK(status->st_mode) || (status->st_mode & 0111));
            if (can_run && known_.is_new(hook, *status)) add(hook, "a hook that git runs");
        }
        std::optional<struct stat> link = look_at(path_ / "hooks");
        if (link && S_ISLNK(link->st_mode) && known_.is_new(path_ / "hooks", *link))
            add(path_ / "hooks", "leads git to hooks elsewhere");
    }

    void look_at_configuration(std::string_view name) {
        const base::Path file = path_ / name;
        if (!has_changed(file)) return;
        std::optional<std::string> content = content_of(file);
        if (!content) return add(file, "a configuration that can't be read");
        for (const plan::GitSetting& setting : plan::parse_git_config(*content)) {
            const config::DataRow* row = plan::program_row(setting);
            if (row == nullptr || is_of_submodule(setting)) continue;
            return add(file, base::format("{}: {}", setting.key, row->reason));
        }
    }

    // git itself writes core.worktree into the repository of a submodule.
    bool is_of_submodule(const plan::GitSetting& setting) const {
        return setting.key == "core.worktree" && path_.str().find("/modules/") != std::string::npos;
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
        if (!content) return add(file, "commands of an unfinished rebase that can't be read");
        for (std::string_view line : base::split(*content, '\n')) {
            std::string_view text = base::trim(line);
            if (text.starts_with("exec ") || text.starts_with("x "))
                return add(file, "run by 'git rebase --continue'");
        }
    }

    const base::Path& path_;
    Known& known_;
    std::vector<Finding>& findings_;
};

void look_into_modules(const base::Path& modules, Known& known, std::vector<Finding>& findings, int depth) {
    std::optional<std::vector<Name>> names = names_in(modules);
    if (!names || depth > kDeepest) {
        findings.push_back({Kind::git, modules, std::string(kUnreadable)});
        return;
    }
    for (const Name& name : *names) {
        const base::Path directory = modules / name.text;
        if (!name.is_directory) continue;
        if (is_repository(directory)) {
            look_into_repository(directory, known, findings);
        } else {
            look_into_modules(directory, known, findings, depth + 1);
        }
    }
}

// git follows a link here.
bool may_be_directory(const base::Path& path) {
    std::optional<struct stat> status = look_at(path);
    return status && (S_ISDIR(status->st_mode) || S_ISLNK(status->st_mode));
}

}  // namespace

bool is_repository(const base::Path& directory) {
    return may_be_directory(directory / "objects") && may_be_directory(directory / "refs") &&
           look_at(directory / "HEAD");
}

void look_into_repository(const base::Path& repository, Known& known, std::vector<Finding>& findings) {
    Repository(repository, known, findings).look();
    look_into_modules(repository / "modules", known, findings, 0);
    std::optional<std::vector<Name>> names = names_in(repository / "worktrees");
    if (!names) return findings.push_back({Kind::git, repository / "worktrees", std::string(kUnreadable)});
    for (const Name& name : *names) {
        if (!name.is_directory) continue;
        const base::Path worktree = repository / "worktrees" / name.text;
        Repository(worktree, known, findings).look();
        look_into_modules(worktree / "modules", known, findings, 0);
    }
}

void look_at_link(const base::Path& link, const Session& session, Known& known,
                  std::vector<Finding>& findings) {
    std::optional<struct stat> status = look_at(link);
    if (!status || !known.is_new(link, *status)) return;
    if (S_ISLNK(status->st_mode))
        return findings.push_back({Kind::git, link, "a symbolic link that leads git elsewhere"});
    std::optional<std::string> content = content_of(link);
    constexpr std::string_view kPrefix = "gitdir:";
    if (!content) return findings.push_back({Kind::git, link, "a file of git's that can't be read"});
    if (!content->starts_with(kPrefix)) return;
    std::string_view text = base::trim(std::string_view(*content).substr(kPrefix.size()));
    const base::Path directory = text.starts_with('/') ? base::Path() / text : link.parent() / text;
    if (!directory.is_within(session.project)) {
        findings.push_back({Kind::git, link, "leads git to " + base::printable(directory.str())});
    } else if (is_repository(directory)) {
        look_into_repository(directory, known, findings);
    }
}

}  // namespace review
