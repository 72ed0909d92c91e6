// SPDX-License-Identifier: MIT
#include "review/git.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "plan/project/git.h"
#include "plan/project/git_index.h"
#include "review/walk.h"

namespace review {
namespace {

constexpr int kDeepest = 64;
constexpr size_t kLargestIndexes = 256u << 20;  // together: some two million files
constexpr size_t kMostGitlinks = 10'000;
constexpr std::string_view kUnreadable = "a directory of git's that can't be looked into";

// As git takes a path from a file: without line breaks at the end and what follows a NUL byte.
std::string path_in(std::string_view content) {
    content = content.substr(0, content.find_last_not_of("\r\n") + 1);
    return std::string(content.substr(0, content.find('\0')));
}

// Commands of a rebase that run no program.
constexpr std::string_view kTodoCommands[] = {
    "pick", "p", "revert", "edit", "e", "reword", "r", "fixup", "f",     "squash", "s",    "label",
    "l",    "t", "reset",  "m",    "d", "merge",  "u", "drop",  "break", "b",      "noop", "update-ref"};

class Repository {
  public:
    Repository(const base::Path& path, Known& known, std::vector<Finding>& findings)
        : path_(path), known_(known), findings_(findings) {}

    void look() {
        look_at_hooks();
        look_at_configuration("config");
        look_at_configuration("config.worktree");
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
        // Threat: a harmless setting in front of the one that runs a program (tests/review/review_test.cc).
        std::vector<ProgramSetting> programs;
        for (const plan::GitSetting& setting : plan::parse_git_config(*content)) {
            const config::DataRow* row = plan::program_row(setting);
            if (row == nullptr || is_of_submodule(setting)) continue;
            if (std::ranges::find(programs, setting.key, &ProgramSetting::key) == programs.end())
                programs.push_back({setting.key, row->reason, needs_request(setting.key)});
        }
        if (programs.empty()) return;
        std::ranges::stable_sort(programs, std::ranges::less(), &ProgramSetting::needs_request);
        findings_.push_back({Kind::git, file, describe(programs), programs.front().needs_request});
    }

    struct ProgramSetting {
        std::string key;
        std::string_view reason;
        bool needs_request = false;
    };

    // "core.fsmonitor: a program that git runs at every status; also core.pager, alias.x"
    static std::string describe(const std::vector<ProgramSetting>& programs) {
        constexpr size_t kMost = 20;
        std::string text = base::format("{}: {}", programs.front().key, programs.front().reason);
        for (size_t i = 1; i < std::min(programs.size(), kMost); ++i)
            text += (i == 1 ? "; also " : ", ") + programs[i].key;
        if (programs.size() > kMost) text += base::format(" and {} more settings", programs.size() - kMost);
        return text;
    }

    // git itself writes core.worktree into the repository of a submodule.
    bool is_of_submodule(const plan::GitSetting& setting) const {
        return setting.key == "core.worktree" && path_.str().find("/modules/") != std::string::npos;
    }

    void look_at_todo() {
        const base::Path file = path_ / "rebase-merge/git-rebase-todo";
        if (!has_changed(file)) return;
        std::optional<std::string> content = content_of(file);
        if (!content) return add(file, "commands of an unfinished rebase that can't be read");
        for (std::string_view line : base::split(*content, '\n')) {
            std::string_view text = base::trim(line);
            const std::string_view command = text.substr(0, text.find_first_of(" \t"));
            bool is_harmless = command.empty() || command.starts_with('#') ||
                               std::ranges::find(kTodoCommands, command) != std::end(kTodoCommands);
            if (!is_harmless)
                return findings_.push_back({Kind::git, file, "run by 'git rebase --continue'", true});
        }
    }

    const base::Path& path_;
    Known& known_;
    std::vector<Finding>& findings_;
};

}  // namespace

bool needs_request(std::string_view key) {
    constexpr std::string_view kOnRequest[] = {"alias.",     "difftool.", "mergetool.",
                                               "guitool.",   "browser.",  "man.",
                                               "sendemail.", "tar.",      "init.templatedir"};
    return std::ranges::any_of(kOnRequest, [&](std::string_view start) { return key.starts_with(start); });
}

// Threat: git asks whether it may execute objects and refs, not whether they are directories, and it looks
// for them where "commondir" leads (tests/jail/bare.bats, tests/jail/review_git.bats).
bool is_repository(const base::Path& directory) {
    auto has = [&](std::string_view name) { return look_at(directory / name).has_value(); };
    return has(plan::kBareHead) && (has("commondir") || (has("objects") && has("refs")));
}

void Repositories::look_into(const base::Path& directory, const base::Path& working_tree) {
    add({directory, working_tree});
    look_at_all();
}

void Repositories::look_at_link(const base::Path& link) {
    look_at(link);
    look_at_all();
}

void Repositories::add(const Place& place) {
    if (seen_.insert(place.directory).second) pending_.push_back(place);
}

// A chain of repositories that lead to each other has no depth.
void Repositories::look_at_all() {
    while (!pending_.empty()) {
        const Place place = std::move(pending_.back());
        pending_.pop_back();
        Repository(place.directory, known_, findings_).look();
        const base::Path common = look_at_common_directory(place);
        look_at_programs({place.directory / "config", place.working_tree, false}, session_, known_,
                         findings_);
        look_into_modules(place.directory / "modules", 0);
        look_at_index(place, common);
        const base::Path worktrees = place.directory / "worktrees";
        std::optional<std::vector<Name>> names = names_in(worktrees);
        if (!names) findings_.push_back({Kind::git, worktrees, std::string(kUnreadable)});
        for (const Name& name : names.value_or(std::vector<Name>())) {
            if (name.is_directory) add({worktrees / name.text, worktrees / name.text});
        }
    }
}

void Repositories::look_into_modules(const base::Path& modules, int depth) {
    std::optional<std::vector<Name>> names = names_in(modules);
    if (!names || depth > kDeepest) {
        findings_.push_back({Kind::git, modules, std::string(kUnreadable)});
        return;
    }
    for (const Name& name : *names) {
        const base::Path directory = modules / name.text;
        if (!name.is_directory) continue;
        if (is_repository(directory)) {
            add({directory, directory});
        } else {
            look_into_modules(directory, depth + 1);
        }
    }
}

bool Repositories::is_new(const base::Path& path) {
    std::optional<struct stat> status = review::look_at(path);
    return status && known_.is_new(path, *status);
}

void Repositories::look_at_git_of(const base::Path& working_tree) {
    const base::Path git = working_tree / ".git";
    std::optional<struct stat> status = review::look_at(git);
    if (!status) return;
    S_ISDIR(status->st_mode) ? add({git, working_tree}) : look_at(git);
}

void Repositories::look_at(const base::Path& link) {
    std::optional<struct stat> status = review::look_at(link);
    if (!status) return;
    base::Path file = link;
    if (S_ISLNK(status->st_mode)) {
        if (known_.is_new(link, *status))
            findings_.push_back({Kind::git, link, "a symbolic link that leads git elsewhere"});
        char target[PATH_MAX];
        const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
        if (length <= 0) return;
        const std::string_view text(target, static_cast<size_t>(length));
        const base::Path named = text.starts_with('/') ? base::Path() / text : link.parent() / text;
        std::optional<base::Path> real;
        if (named.is_within(session_.project)) real = physical(link.str());
        if (!real || !real->is_within(session_.project)) return;
        if (is_directory(*real)) return add({*real, link.parent()});
        file = *std::move(real);
    }
    std::optional<std::string> content = content_of(file);
    constexpr std::string_view kPrefix = "gitdir: ";
    if (!content && is_new(file))
        findings_.push_back({Kind::git, file, "a file of git's that can't be read"});
    if (!content || !content->starts_with(kPrefix)) return;
    // Relative to the name that git opened, which may be a link.
    follow(link, path_in(*content).substr(kPrefix.size()), link.parent());
}

// What a file leads to may be changed later than the file.
void Repositories::follow(const base::Path& file, std::string_view text, const base::Path& working_tree) {
    if (text.empty()) return;
    const std::string whole =
        text.starts_with('/') ? std::string(text) : base::format("{}/{}", file.parent(), text);
    const base::Path named = base::Path() / whole;
    std::optional<base::Path> real;
    // Threat: a path outside could make the user's machine mount something.
    if (named.is_within(session_.project)) real = physical(whole);
    if (real && real->is_within(session_.project)) return add({*real, working_tree});
    bool is_away = real || !named.is_within(session_.project);
    if (is_away && (is_new(file) || has_new_link(named)))
        findings_.push_back(
            {Kind::git, file, "leads git to " + base::printable((real ? *real : named).str())});
}

bool Repositories::has_new_link(const base::Path& target) {
    for (base::Path path = target; path.is_strictly_within(session_.project); path = path.parent()) {
        std::optional<struct stat> status = review::look_at(path);
        if (status && S_ISLNK(status->st_mode) && known_.is_new(path, *status)) return true;
    }
    return false;
}

// Of a worktree that is "../..", and "." holds the name in any other repository.
base::Path Repositories::look_at_common_directory(const Place& place) {
    const base::Path file = place.directory / "commondir";
    std::optional<struct stat> status = review::look_at(file);
    if (!status) return place.directory;
    std::optional<std::string> content = content_of(file);
    const std::string text = content ? path_in(*content) : "";
    bool is_usual = text == "." || (place.directory.parent().name() == "worktrees" && text == "../..");
    if (!is_usual && known_.is_new(file, *status))
        findings_.push_back({Kind::git, file, "leads git to other hooks and another configuration"});
    const base::Path named = text.starts_with('/') ? base::Path() / text : place.directory / text;
    if (text.empty() || !named.is_within(session_.project)) return place.directory;
    std::optional<base::Path> common =
        physical(text.starts_with('/') ? text : base::format("{}/{}", place.directory, text));
    if (!common || !common->is_within(session_.project)) return place.directory;
    add({*common, place.working_tree});
    return *std::move(common);
}

namespace {

plan::ObjectHash hash_of(const base::Path& common) {
    plan::ObjectHash hash = plan::ObjectHash::sha1;
    std::optional<std::string> text = content_of(common / "config");
    for (const plan::GitSetting& setting : plan::parse_git_config(text.value_or(""))) {
        if (setting.key == "extensions.objectformat")
            hash = setting.value == "sha256" ? plan::ObjectHash::sha256 : plan::ObjectHash::sha1;
    }
    return hash;
}

}  // namespace

void Repositories::look_at_index(const Place& place, const base::Path& common) {
    const base::Path index = place.directory / "index";
    if (!review::look_at(index)) return;
    const plan::ObjectHash hash = hash_of(common);
    auto read = [&](const base::Path& file) -> std::optional<plan::Gitlinks> {
        std::optional<std::string> content = content_of(file, kLargestIndexes - index_bytes_);
        if (!content) return std::nullopt;
        index_bytes_ += content->size();
        return plan::gitlinks_in(*content, hash);
    };
    std::optional<plan::Gitlinks> links = read(index);
    if (links && !links->shared.empty()) {
        std::optional<plan::Gitlinks> shared = read(place.directory / ("sharedindex." + links->shared));
        if (shared) shared->paths.insert(shared->paths.end(), links->paths.begin(), links->paths.end());
        links = std::move(shared);
    }
    if (!links) {
        if (is_new(index)) findings_.push_back({Kind::git, index, "an index that can't be read"});
        return;
    }
    look_at_gitlinks(index, place.working_tree, links->paths);
}

// Threat: `git status` starts git in each of these directories, even where the walk does not look
// (tests/jail/review_git.bats).
void Repositories::look_at_gitlinks(const base::Path& index, const base::Path& working_tree,
                                    const std::vector<std::string>& paths) {
    const bool may_be_changed = is_new(index);
    for (const std::string& path : paths) {
        if (++gitlinks_ > kMostGitlinks)
            return findings_.push_back({Kind::git, index, "names more repositories than are looked at"});
        const base::Path linked = working_tree / path;
        const std::optional<bool> is_known = known_.has_entry(index, path);
        if (!linked.is_strictly_within(session_.project)) {
            if (may_be_changed)
                findings_.push_back(
                    {Kind::git, index, "names a repository outside: " + base::printable(path)});
            continue;
        }
        // Without an earlier review of this index, a repository that the session made tells.
        bool is_new_link = is_known ? !*is_known : is_new(linked / ".git");
        if (may_be_changed && is_new_link)
            findings_.push_back(
                {Kind::git, linked, "the index names a repository here: git status starts git in it"});
        look_at_git_of(linked);
    }
}

}  // namespace review
