// SPDX-License-Identifier: MIT
#include "review/git.h"

#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "plan/project/git.h"
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
            const std::string_view command = text.substr(0, text.find_first_of(" \t"));
            if (command == "exec" || command == "x")
                return findings_.push_back({Kind::git, file, "run by 'git rebase --continue'", true});
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

bool needs_request(std::string_view key) {
    constexpr std::string_view kOnRequest[] = {"alias.",     "difftool.", "mergetool.",
                                               "guitool.",   "browser.",  "man.",
                                               "sendemail.", "tar.",      "init.templatedir"};
    return std::ranges::any_of(kOnRequest, [&](std::string_view start) { return key.starts_with(start); });
}

bool is_repository(const base::Path& directory) {
    // Threat: objects and refs are in another directory, which "commondir" names (tests/jail/bare.bats).
    const bool has_rest = look_at(directory / "commondir") ||
                          (may_be_directory(directory / "objects") && may_be_directory(directory / "refs"));
    return has_rest && look_at(directory / plan::kBareHead);
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

namespace {

constexpr int kDeepestInclude = 10;  // MAX_INCLUDE_DEPTH of git's config.c
constexpr size_t kLargestConfiguration = 1u << 20;
constexpr size_t kMostWords = 64;    // of one setting
constexpr size_t kMostNames = 1000;  // of one configuration with those that it includes

// The words of a command line, for a shell or not: everything between blanks, quotes and operators.
std::vector<std::string> words_of(std::string_view value) {
    constexpr std::string_view kBetween = " \t\n\"'`;|&()<>=!";
    std::vector<std::string> words;
    while (!value.empty() && words.size() < kMostWords) {
        size_t begin = std::min(value.find_first_not_of(kBetween), value.size());
        size_t end = std::min(value.find_first_of(kBetween, begin), value.size());
        if (end > begin) words.emplace_back(value.substr(begin, end - begin));
        value.remove_prefix(end);
    }
    return words;
}

std::optional<base::Path> physical(const base::Path& path) {
    std::unique_ptr<char, decltype(&::free)> text(::realpath(path.c_str(), nullptr), &::free);
    if (!text) return std::nullopt;
    base::Result<base::Path> parsed = base::Path::parse(text.get());
    return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

// The caller's own may be a symbolic link.
std::optional<std::string> content_of_own(const base::Path& file) {
    struct stat status;
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    base::Result<std::string> text = base::read_file(file.str(), kLargestConfiguration);
    return text ? std::optional(*std::move(text)) : std::nullopt;
}

class Programs {
  public:
    Programs(const Configuration& configuration, const Session& session, Known& known,
             std::vector<Finding>& findings)
        : configuration_(configuration), session_(session), known_(known), findings_(findings) {}

    void look_into(const base::Path& file, int depth = 0) {
        if (depth > kDeepestInclude || !may_open(file) || !seen_.insert(file).second) return;
        std::optional<std::string> text =
            file.is_within(session_.project) ? content_of(file) : content_of_own(file);
        if (!text) return;
        for (const plan::GitSetting& setting : plan::parse_git_config(*text)) {
            if (plan::program_row(setting) == nullptr || setting.key == "core.worktree") continue;
            bool is_include = setting.key == "include.path" || setting.key.starts_with("includeif.");
            if (is_include) {
                look_into(meant(setting.value, file.parent()), depth + 1);
            } else {
                look_at(setting);
            }
        }
    }

  private:
    // Threat: a configuration that the session wrote could name a FIFO, or a path that mounts a server.
    bool may_open(const base::Path& path) const {
        return configuration_.is_callers || path.is_strictly_within(session_.project);
    }

    base::Path meant(std::string_view word, const base::Path& from) const {
        for (std::string_view home : {"~/", "$HOME/", "${HOME}/"}) {
            if (word.starts_with(home)) return session_.home / word.substr(home.size());
        }
        return word.starts_with('/') ? base::Path() / word : from / word;
    }

    void look_at(const plan::GitSetting& setting) {
        bool names_directory = setting.key == "core.hookspath" || setting.key == "init.templatedir";
        std::vector<std::string> words = words_of(setting.value);
        if (names_directory) words = {setting.value};
        for (size_t i = 0; i < words.size(); ++i) {
            // The shell finds a first word without a slash on the PATH.
            bool is_on_path = i == 0 && words[i].find('/') == std::string::npos && !names_directory;
            if (is_on_path) continue;
            for (const base::Path& from : {configuration_.working_tree, session_.project}) {
                const base::Path named = meant(words[i], from);
                if (!may_open(named) || ++names_ > kMostNames) continue;
                std::optional<base::Path> path = physical(named);
                // A new file of a layer is not in the project yet.
                if (!path && session_.layer) path = named;
                if (!path || !path->is_strictly_within(session_.project)) continue;
                names_directory ? look_at_directory(*path, setting) : look_at_file(*path, setting);
                look_at_file(named, setting);  // a link
            }
        }
    }

    void look_at_directory(const base::Path& directory, const plan::GitSetting& setting) {
        if (session_.layer) return look_at_changes_in(directory, setting);
        std::optional<std::vector<Name>> names = names_in(directory);
        if (!names) return findings_.push_back({Kind::git, directory, why(setting)});
        for (const Name& name : *names) {
            const base::Path path = directory / name.text;
            if (name.is_directory && name.text == "hooks") look_at_directory(path, setting);
            if (!name.is_directory) look_at_file(path, setting);
        }
    }

    void look_at_changes_in(const base::Path& directory, const plan::GitSetting& setting) {
        for (const base::Path& path : session_.layer->changed) {
            bool is_in_it = path.parent() == directory || path.parent() == directory / "hooks";
            if (is_in_it) look_at_file(path, setting);
        }
    }

    void look_at_file(const base::Path& path, const plan::GitSetting& setting) {
        if (!path.is_strictly_within(session_.project)) return;
        if (session_.layer) {
            if (session_.layer->changed.contains(path))
                findings_.push_back({Kind::git, path, why(setting), needs_request(setting.key)});
            return;
        }
        std::optional<struct stat> status = review::look_at(path);
        if (!status || S_ISDIR(status->st_mode) || !known_.is_new_or_replaced(path, *status)) return;
        findings_.push_back({Kind::git, path, why(setting), needs_request(setting.key)});
    }

    static std::string why(const plan::GitSetting& setting) {
        return base::format("your git settings run it ({})", setting.key);
    }

    const Configuration& configuration_;
    const Session& session_;
    Known& known_;
    std::vector<Finding>& findings_;
    std::set<base::Path> seen_;
    size_t names_ = 0;
};

}  // namespace

void look_at_programs(const Configuration& configuration, const Session& session, Known& known,
                      std::vector<Finding>& findings) {
    Programs(configuration, session, known, findings).look_into(configuration.file);
}

}  // namespace review
