// SPDX-License-Identifier: MIT
#include "plan/project/git_places.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/inside/jail_files.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/backend.h"
#include "plan/project/git.h"
#include "plan/project/project_search.h"

namespace plan {
namespace {

constexpr size_t kLargeConfiguration = 1u << 20;

// Placeholders for missing files of a repository: git fails on a directory under these names.
struct GitFile {
    std::string_view name;
    WhenMissing missing;
};
constexpr GitFile kGitFiles[] = {
    {"commondir", WhenMissing::hold_with_dot},
    {"config", WhenMissing::hold_with_empty_file},
    {"config.worktree", WhenMissing::hold_with_empty_file},
};

WhenMissing when_missing(std::string_view relative) {
    const GitFile* file = std::ranges::find(kGitFiles, relative, &GitFile::name);
    return file == std::end(kGitFiles) ? WhenMissing::hold_with_directory : file->missing;
}

class GitProtection {
  public:
    GitProtection(Draft& draft, Protection& protection, const std::vector<GitEntry>& entries)
        : draft_(draft), protection_(protection), entries_(entries) {}

    void protect(const base::Path& working_tree, const GitPlaces& places) {
        if (places.link) {
            protection_.protect_existing(*places.link,
                                         {"leads git to its directory, and with it to hooks", {}});
        }
        protection_.pin(places.directory);
        // Several worktrees and submodules may lead to the same repository.
        if (protected_.insert(places.common).second) protect_common(places);
        follow(places.common / "config", {working_tree, places.common});
    }

    // Paths in the project that the user's own configuration names, such as a hooks directory for every
    // repository.
    void follow_users_configuration() {
        for (std::string_view file : {".gitconfig", ".config/git/config"}) {
            follow(draft_.home / file, {draft_.project, draft_.home});
        }
    }

  private:
    struct Bases {
        const base::Path& working_tree;
        const base::Path& repository;
    };

    void protect_common(const GitPlaces& places) {
        protection_.pin(places.common);
        protect_repository(places.common, places.common);
        for (const base::Path& submodule : places.submodules) {
            protect_repository(places.common, submodule);
            if (!draft_.plan.judges_git_config) leave_out_working_tree(submodule / "config");
        }
        for (const base::Path& worktree : places.worktrees) protect_worktree(places.common, worktree);
        if (!places.has_all_submodules) {
            protection_.protect(places.common, "modules",
                                {"more submodules than can be protected one by one", {}});
        }
        if (!places.has_all_worktrees) {
            protection_.protect(places.common, "worktrees",
                                {"more worktrees than can be protected one by one", {}});
        }
        for (const base::Path& submodule : places.submodules) {
            std::optional<base::Path> its_tree = working_tree_of(draft_.tree(), submodule);
            if (its_tree) follow(submodule / "config", {*its_tree, submodule});
        }
    }

    void protect_repository(const base::Path& common, const base::Path& repository) {
        for (const GitEntry& entry : entries_) {
            protection_.protect(common, below(common, repository, entry.relative), entry.reason,
                                when_missing(entry.relative));
        }
        hold_spare(common, repository);
    }

    // The file that the keeper exchanges with the configuration in this directory.
    void hold_spare(const base::Path& common, const base::Path& directory) {
        if (!draft_.plan.judges_git_config) return;
        protection_.protect(common, below(common, directory, base::kSpareConfig),
                            {"git changes its configuration through it", {}},
                            WhenMissing::hold_with_empty_file);
    }

    // `git submodule update` writes core.worktree again if the setting exists (git 2.39), and would fail on
    // the protected file. Without the setting git uses the directory that it came from as the working tree,
    // which is the same.
    void leave_out_working_tree(const base::Path& file) {
        base::Result<std::string> text = draft_.tree().read(file, kLargeConfiguration);
        if (!text) return;
        std::vector<GitSetting> settings = parse_git_config(*text);
        size_t left_out =
            std::erase_if(settings, [](const GitSetting& setting) { return setting.key == "core.worktree"; });
        if (left_out == 0 || !is_plain_file(file) || !rewritten_.insert(file).second) return;
        draft_.after_rules.push_back(
            Mount{.kind = MountKind::file,
                  .target = file,
                  .source = git_config_text(settings),
                  .reason = {"the same without core.worktree, which git would want to write", {}}});
    }

    bool is_plain_file(const base::Path& path) const {
        std::optional<host::Node> node = draft_.tree().look(path);
        return node && node->kind == host::Kind::file;
    }

    // In the directory of a linked worktree git reads only these two files of its own; everything else is the
    // repository's. Threat: a session changes gitdir, which names the working tree. The next session would
    // take another directory for the working tree and could remove this directory (git_worktrees.bats).
    void protect_worktree(const base::Path& common, const base::Path& worktree) {
        draft_.plan.removes_worktrees = draft_.plan.judges_git_config;
        protection_.protect(common, below(common, worktree, "gitdir"),
                            {"names the working tree of this directory", {}}, WhenMissing::leave);
        for (const GitEntry& entry : entries_) {
            // git reads config.worktree as soon as extensions.worktreeConfig is set, which
            // `git sparse-checkout` does at any time.
            bool is_held = entry.relative == "config.worktree";
            if (!is_held && entry.relative != "commondir") continue;
            protection_.protect(common, below(common, worktree, entry.relative), entry.reason,
                                is_held ? when_missing(entry.relative) : WhenMissing::leave);
        }
        hold_spare(common, worktree);
    }

    static std::string below(const base::Path& common, const base::Path& directory,
                             std::string_view relative) {
        std::string_view between = directory.relative_to(common);
        return between.empty() ? std::string(relative) : std::string(between) + "/" + std::string(relative);
    }

    // A protected configuration may name files that are not protected: hooks elsewhere and included
    // configurations.
    void follow(const base::Path& file, const Bases& bases, int depth = 0) {
        // MAX_INCLUDE_DEPTH of git's config.c: git refuses to run with a deeper one.
        constexpr int kDeepestInclude = 10;
        // Threat: configurations that include each other would be read again and again.
        auto [followed, is_new] = followed_.try_emplace({file, bases.working_tree}, depth);
        if (!is_new && followed->second <= depth) return;
        followed->second = depth;
        base::Result<std::string> text = draft_.tree().read(file, kLargeConfiguration);
        if (!text || depth > kDeepestInclude) return;
        for (const GitSetting& setting : parse_git_config(*text)) {
            bool is_include = setting.key == "include.path" ||
                              (setting.key.starts_with("includeif.") && setting.key.ends_with(".path"));
            if (setting.key == "core.hookspath") {
                protect_named(meant(setting.value, bases.working_tree), bases,
                              WhenMissing::hold_with_directory, "core.hooksPath of " + file.str());
            } else if (is_include) {
                const base::Path included = meant(setting.value, file.parent());
                protect_named(included, bases, WhenMissing::hold_with_empty_file,
                              "included by " + file.str());
                follow(included, bases, depth + 1);
            }
        }
    }

    base::Path meant(std::string_view value, const base::Path& from) const {
        if (value.starts_with("~/")) return draft_.home / value.substr(2);
        return value.starts_with('/') ? base::Path() / value : from / value;
    }

    void protect_named(const base::Path& path, const Bases& bases, WhenMissing missing,
                       const std::string& why) {
        const Reason reason{base::printable(why), {}};
        if (path.is_strictly_within(draft_.project)) {
            std::string relative(path.relative_to(draft_.project));
            if (!is_lifted(relative)) protection_.protect_named(draft_.project, relative, reason, missing);
        } else if (path.is_strictly_within(bases.repository) && bases.repository != draft_.home) {
            protection_.protect_named(bases.repository, path.relative_to(bases.repository), reason, missing);
        }
    }

    bool is_lifted(std::string_view relative) const {
        return std::ranges::any_of(draft_.policy().project.unprotect, [&](const config::Item& item) {
            return base::matches_path(item.text, relative);
        });
    }

    Draft& draft_;
    Protection& protection_;
    const std::vector<GitEntry>& entries_;
    std::set<base::Path> protected_;  // common directories
    std::set<base::Path> rewritten_;  // configurations without core.worktree
    // The configurations already followed, each for a working tree, with the least depth.
    std::map<std::pair<base::Path, base::Path>, int> followed_;
};

bool is_credential(const Draft& draft, const base::Path& path) {
    return std::ranges::any_of(config::data_list("home/credentials"), [&](const config::DataRow& row) {
        return path.is_within(draft.home / row.entry) || (draft.home / row.entry).is_within(path);
    });
}

// The repository of a worktree or submodule is outside the project, and every git command needs it. It is
// opened only where a project would be permitted too.
bool may_open(Draft& draft, const GitPlaces& places) {
    if (places.common.is_within(draft.project)) return true;
    bool is_permitted = !is_credential(draft, places.common) && !draft.home.is_within(places.common) &&
                        is_below_parents(draft, places.common);
    if (!is_permitted) {
        draft.note(NoteKind::information,
                   base::format("the repository {} lies where no project may: git does not work here",
                                base::printable(places.common.str())));
    }
    return is_permitted;
}

void open_repository(Draft& draft, const GitPlaces& git) {
    bool is_writable = draft.plan.project_is_writable && !draft.plan.is_layered;
    Access access = is_writable ? Access::writable : Access::readonly;
    const Reason reason{"the repository of this working tree", {}};
    if (!git.common.is_within(draft.project)) draft.add_rule(git.common, access, reason);
    bool is_apart = !git.directory.is_within(git.common) && !git.directory.is_within(draft.project);
    if (is_apart) draft.add_rule(git.directory, access, reason);
}

void protect_nested(Draft& draft, Protection& protection, GitProtection& repositories,
                    const base::Path& nested) {
    std::optional<GitPlaces> places = find_git(draft.tree(), nested, &draft.project);
    if (places && places->common.is_within(draft.project)) return repositories.protect(nested, *places);
    protection.protect(draft.project, std::string(nested.relative_to(draft.project)) + "/.git",
                       {"a .git that leads to no repository of this project", {}});
}

// Threat: thousands of planted repositories would delay the next launch by seconds (tests/jail/search.bats).
void add_nested(Draft& draft, Protection& protection, GitProtection& repositories,
                const std::vector<base::Path>& nested) {
    Crowds crowds = find_crowds(draft.project, nested, most_repositories(draft.plan.backend));
    for (const Crowds::Directory& crowd : crowds.directories) {
        protection.protect_existing(crowd.path,
                                    {"holds more repositories than can be protected one by one", {}});
        draft.note(NoteKind::protection, base::format("{} is read-only: {} repositories lie in it, more than "
                                                      "can be protected one by one; move or remove them",
                                                      base::printable(crowd.path.str()), crowd.held));
    }
    size_t count = 0;
    for (const base::Path& tree : crowds.single) {
        const Reason reason{"one of many repositories: git can't write in it here", {}};
        if (++count <= kMostRepositoriesByPart) {
            protect_nested(draft, protection, repositories, tree);
        } else {
            protection.protect(draft.project, (tree / ".git").relative_to(draft.project), reason);
        }
    }
    if (count > kMostRepositoriesByPart) {
        draft.note(
            NoteKind::protection,
            base::format(
                "git can't write in {} nested repositories of this project: the first {} are protected part "
                "by part, of the others the whole .git is read-only; use --project with one of them",
                count - kMostRepositoriesByPart, kMostRepositoriesByPart));
    }
}

// The keeper answers the renames, from outside. In a traced jail the tracer has the listener. It would write
// to the project, not to a layer.
bool can_judge(const Draft& draft, const std::vector<GitEntry>& entries) {
    const auto& trace = draft.policy().trace;
    bool is_traced = trace.files || trace.commands || trace.system_calls || draft.policy().network.observe;
    return draft.plan.search.has_guard && !is_traced && !draft.plan.is_layered &&
           std::ranges::find(entries, "config", &GitEntry::relative) != entries.end() &&
           !outside_answers_obstacle(draft.backend(), draft.inputs.facts);
}

}  // namespace

void show_git_below_layer(Draft& draft) {
    std::optional<GitPlaces> git = find_git(draft.tree(), draft.project);
    if (!git || !may_open(draft, *git)) return;
    open_repository(draft, *git);
    if (!git->common.is_within(draft.project))
        draft.note(
            NoteKind::protection,
            base::format("git can't commit here: the repository {} is outside the project and can only be "
                         "read with --cow",
                         base::printable(git->common.str())));
}

void add_git(Draft& draft, Protection& protection, const std::vector<GitEntry>& entries, const Found& found) {
    const base::Path& project = draft.project;
    std::optional<GitPlaces> git = find_git(draft.tree(), project, &project);
    if (git && !may_open(draft, *git)) git.reset();
    if (git) open_repository(draft, *git);
    if (!draft.plan.project_is_writable || entries.empty()) return;

    draft.plan.judges_git_config = can_judge(draft, entries);
    GitProtection repositories(draft, protection, entries);
    if (git) {
        repositories.protect(project, *git);
        draft.git_config_is_protected = true;
    } else if (draft.tree().look(project / ".git")) {
        protection.protect(project, ".git", {"a .git that leads to no repository of this project", {}});
    } else if (protection.is_set_aside(project / ".git")) {
        // The user has no git: what the jail makes there is moved away when the session ends.
    } else if (draft.plan.judges_git_config && draft.tree().may_write(project)) {
        // `git init` makes a repository in this directory, without hooks.
        protection.make_directory(project / ".git", {"git init works here, without hooks", {}});
        repositories.protect(project, {.directory = project / ".git", .common = project / ".git"});
    } else {
        protection.protect(project, ".git",
                           {"a repository with hooks could be planted: run 'git init' outside first", {}});
    }
    draft.git_has_no_templates = draft.plan.judges_git_config && !draft.tree().look(project / ".git/HEAD") &&
                                 !draft.tree().look(project / ".git/commondir");
    repositories.follow_users_configuration();
    add_nested(draft, protection, repositories, found.nested_repositories);
}

}  // namespace plan
