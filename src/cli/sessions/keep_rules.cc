// SPDX-License-Identifier: MIT
#include "cli/sessions/keep_rules.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/no_links.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/project/git.h"
#include "plan/project/git_config_change.h"
#include "session/guard/git_addresses.h"

namespace cli {
namespace {

constexpr size_t kLargestConfiguration = 1u << 20;

bool exists(const base::Path& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
}

// Of a regular file; nothing for any other kind.
std::optional<std::string> content_of(const base::Path& file) {
    base::Fd opened(base::open_without_links(file, O_RDONLY | O_NONBLOCK));
    struct stat status;
    if (!opened || ::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    base::Result<std::string> text = base::read_descriptor(opened.get(), kLargestConfiguration);
    return text ? std::optional(*std::move(text)) : std::nullopt;
}

// A path of share/project/protect.list at any depth: `.vscode` is closed with everything below it. What git
// reads is decided by its content.
std::string protected_name(const base::Path& target) {
    const std::vector<std::string_view> parts = target.components();
    for (const config::DataRow& row : config::data_list("project/protect")) {
        constexpr std::string_view kByContent[] = {".git/hooks",   ".git/config",   ".git/config.worktree",
                                                   ".git/remotes", ".git/branches", plan::kBareHead};
        if (std::ranges::find(kByContent, row.entry) != std::end(kByContent)) continue;
        const std::vector<std::string_view> wanted = base::split(row.entry, '/');
        for (size_t at = 0; at + wanted.size() <= parts.size(); ++at) {
            auto same = [](std::string_view part, std::string_view pattern) {
                return base::matches_name(pattern, part);
            };
            if (std::equal(
                    wanted.begin(), wanted.end(), parts.begin() + static_cast<ptrdiff_t>(at),
                    [&](std::string_view pattern, std::string_view part) { return same(part, pattern); }))
                return std::string(row.reason);
        }
    }
    return {};
}

// Whether ".." is only at the front of a relative path. Then the kernel finds what a comparison of texts
// finds, whatever links are on the way: the directories above the copied file are real ones.
bool goes_up_only_first(std::string_view path) {
    bool is_below = false;
    for (std::string_view part : base::split(path, '/')) {
        if (part == ".." && is_below) return false;
        is_below = is_below || (part != ".." && part != "." && !part.empty());
    }
    return true;
}

// A link may lead only to another name of the copied tree.
bool stays_inside(const KeepRules::Copy& copy, const std::string& relative, const std::string& link) {
    if (link.starts_with('/') || !goes_up_only_first(link)) return false;
    const base::Path from = (copy.target.parent() / relative).parent();
    return from.is_within(copy.target) && (from / link).is_within(copy.target);
}

// Whether a session could have set this address in the project itself.
bool is_harmless_address(const std::string& address) {
    bool is_plain = address.find_first_of("\"\\;#\n\r\t ") == std::string::npos;
    return is_plain &&
           !plan::judge_git_config("", "[remote \"x\"]\n\turl = " + address + "\n", session::is_beyond_user);
}

// Threat: a push runs the hooks of the repository that it reaches, and no rule looks at hooks of a bare
// repository in the project (tests/jail/keep.bats). Hooks of the project itself are protected.
bool leads_into_project(const std::string& address, const base::Path& project) {
    if (is_harmless_address(address)) return false;
    bool is_path = address.starts_with('/') && address.find("/proc/") == std::string::npos &&
                   address.find("/dev/") == std::string::npos;
    char real[PATH_MAX];
    if (!is_path || ::realpath(address.c_str(), real) == nullptr) return true;
    // Of a link in the project the next session could change the target.
    auto is_below = [&](const base::Path& place) {
        return place.is_within(project) && place != project && place != project / ".git";
    };
    return is_below(base::Path() / address) || is_below(base::Path() / real);
}

bool leads_into_project(const plan::GitSetting& setting, const base::Path& project) {
    const std::string& key = setting.key;
    const size_t first = key.find('.'), last = key.rfind('.');
    if (first == std::string::npos) return false;
    const std::string_view section = std::string_view(key).substr(0, first);
    const std::string_view name = std::string_view(key).substr(last + 1);
    // What replaces the beginning of an address is only a part of one: every path is too much.
    if (section == "url" && last > first)
        return !is_harmless_address(key.substr(first + 1, last - first - 1));
    if ((section == "remote" || section == "submodule") && (name == "url" || name == "pushurl"))
        return leads_into_project(setting.value, project);
    bool names_remote =
        (section == "branch" && (name == "remote" || name == "pushremote")) || key == "remote.pushdefault";
    return names_remote && setting.value.find('/') != std::string::npos &&
           leads_into_project(setting.value, project);
}

std::string obstacle_of_configuration(const base::Path& stored, const base::Path& project) {
    std::optional<std::string> text = content_of(stored);
    if (!text) return "a configuration of git that can't be read";
    std::string names, addresses;
    auto add = [](std::string& list, const std::string& key) {
        list += (list.empty() ? "" : ", ") + base::printable(key);
    };
    for (const plan::GitSetting& setting : plan::parse_git_config(*text)) {
        bool is_of_submodule =
            setting.key == "core.worktree" && stored.str().find("/modules/") != std::string::npos;
        if (plan::program_row(setting) != nullptr && !is_of_submodule) add(names, setting.key);
        if (leads_into_project(setting, project)) add(addresses, setting.key);
    }
    if (!names.empty()) return base::format("git would run programs or read files for it ({})", names);
    if (addresses.empty()) return "";
    return base::format("a push could run hooks that the session wrote ({})", addresses);
}

// Threat: a jail makes only a hook, at a path where the host has the rest of the repository, or a common
// directory, which has no HEAD (tests/jail/keep.bats). So a directory of git's is recognised by its path, or
// by one of the names that git requires, in either place.
bool is_top_of_git(const base::Path& stored, const base::Path& target) {
    constexpr std::string_view kNames[] = {"HEAD", "objects", "refs", "commondir"};
    return target.name() == ".git" || std::ranges::any_of(kNames, [&](std::string_view name) {
               return exists(stored / name) || exists(target / name);
           });
}
bool is_git_directory(const base::Path& stored, const base::Path& target) {
    return (target.str() + '/').find("/.git/") != std::string::npos || is_top_of_git(stored, target);
}

}  // namespace

KeepRules::KeepRules(const Workspace& workspace, const Caller& caller, const session::Discarded& discarded)
    : discarded_(discarded) {
    add_list("home/start_up", "");
    add_list("home/start_up_programs", "");
    add_list("home/credentials", "a credential: ");
    for (const std::string& own : {workspace.files.user_directory, workspace.files.state_directory}) {
        if (base::Result<base::Path> path = base::Path::parse(own); path)
            places_.push_back({*path, "the sandbox's own files"});
    }
    add_search_path(caller);
}

void KeepRules::add_list(std::string_view list, std::string_view why) {
    for (const config::DataRow& row : config::data_list(list)) {
        const base::Path path = discarded_.home / row.entry;
        auto& places = base::has_wildcard(row.entry) ? patterns_ : places_;
        places.push_back({path, std::string(why) + std::string(row.reason)});
    }
}

void KeepRules::add_search_path(const Caller& caller) {
    std::optional<std::string_view> path = host::variable(caller.environment, "PATH");
    for (std::string_view entry : base::split(path.value_or(""), ':')) {
        if (!entry.starts_with('/')) continue;
        base::Result<host::Tree::Resolved> resolved = caller.disk.resolve(base::Path() / entry);
        if (resolved && !resolved->path.is_root())
            places_.push_back({resolved->path, "programs on your PATH"});
    }
}

std::string KeepRules::closed_place(const base::Path& target) const {
    for (const Place& place : places_) {
        if (target.is_within(place.path)) return place.why;
    }
    for (const Place& pattern : patterns_) {
        for (base::Path above = target; !above.is_root(); above = above.parent()) {
            bool is_match = above.depth() == pattern.path.depth() &&
                            above.parent() == pattern.path.parent() &&
                            base::matches_name(pattern.path.name(), above.name());
            if (is_match) return pattern.why;
        }
    }
    return {};
}

// A worktree of the session's own project, or a submodule of the copied tree. Threat: a `.git` file leads
// into the store, or through a link into the project, to hooks that no rule has seen (tests/jail/keep.bats).
std::string KeepRules::obstacle_of_git_link(const Copy& copy, const std::string& relative) const {
    constexpr std::string_view kPrefix = "gitdir:";
    std::optional<std::string> text = content_of(copy.stored.parent() / relative);
    if (!text || !text->starts_with(kPrefix)) return "leads git elsewhere";
    std::string_view named = base::trim(std::string_view(*text).substr(kPrefix.size()));
    const base::Path from = (copy.target.parent() / relative).parent();
    const base::Path directory = named.starts_with('/') ? base::Path() / named : from / named;
    std::string elsewhere = "leads git to " + base::printable(directory.str());
    if (!goes_up_only_first(named)) return elsewhere;
    if (directory.is_strictly_within(copy.target)) return {};
    bool is_worktree = directory.is_strictly_within(discarded_.project / ".git/worktrees") &&
                       base::trim(content_of(directory / "commondir").value_or("")) == "../..";
    if (!is_worktree) return elsewhere;
    return exists(directory / "config.worktree")
               ? obstacle_of_configuration(directory / "config.worktree", discarded_.project)
               : "";
}

std::string KeepRules::obstacle_of_git(const Copy& copy, const std::string& relative, bool is_link) const {
    const base::Path stored = copy.stored.parent() / relative, target = copy.target.parent() / relative;
    if (stored.name() == ".git") {
        struct stat status;
        bool is_directory = ::lstat(stored.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
        return is_directory ? "" : obstacle_of_git_link(copy, relative);
    }
    const std::string_view name = stored.name();
    const base::Path stored_parent = stored.parent(), target_parent = target.parent();
    const bool is_in_git = is_git_directory(stored_parent, target_parent);
    // `hooks` and `config` could lead to other names of the tree.
    if (is_link) return is_in_git ? "a symbolic link in a repository" : "";
    if (name == "config" || name == "config.worktree")
        return is_in_git ? obstacle_of_configuration(stored, discarded_.project) : "";
    if (name == "commondir" && is_in_git)
        return base::trim(content_of(stored).value_or("")) == "../.." ? "" : "leads git elsewhere";
    const bool is_hook = target_parent.name() == "hooks" && !name.ends_with(".sample") &&
                         is_git_directory(stored_parent.parent(), target_parent.parent());
    if (is_hook) return "a hook that git runs";
    const std::string_view above = target_parent.name();
    const bool names_remote = (above == "remotes" || above == "branches") &&
                              is_top_of_git(stored_parent.parent(), target_parent.parent());
    return names_remote ? "names a repository whose hooks a push runs" : "";
}

std::string KeepRules::obstacle(const Copy& copy, const std::string& relative,
                                const std::string& link) const {
    const base::Path target = copy.target.parent() / relative;
    if (std::string why = closed_place(target); !why.empty()) return why;
    if (std::string why = protected_name(target); !why.empty()) return why;
    if (!link.empty() && !stays_inside(copy, relative, link))
        return "a symbolic link that leads out of the copied tree, to " + base::printable(link);
    return obstacle_of_git(copy, relative, !link.empty());
}

}  // namespace cli
