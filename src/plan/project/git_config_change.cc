// SPDX-License-Identifier: MIT
#include "plan/project/git_config_change.h"

#include <algorithm>
#include <set>

#include "base/path.h"
#include "base/text.h"
#include "plan/project/git_config_strict.h"

namespace plan {
namespace {

// ---- Plain lines, as git writes them

bool has_control_letter(std::string_view text) {
    return std::ranges::any_of(
        text, [](char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f'; });
}

// Between quotes; `at` is behind the first one, and behind the last one afterwards.
bool skip_quoted(std::string_view text, size_t& at) {
    for (; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            ++at;
            return true;
        }
    }
    return false;
}

bool is_plain_section(std::string_view line) {
    size_t at = 1;
    while (at < line.size() && (is_git_key_letter(line[at]) || line[at] == '.')) ++at;
    if (line.substr(at) == "]") return at > 1;
    if (!line.substr(at).starts_with(" \"")) return false;
    at += 2;
    return skip_quoted(line, at) && line.substr(at) == "]";
}

bool is_plain_value(std::string_view value) {
    for (size_t at = 0; at < value.size();) {
        const char letter = value[at++];
        if (letter == '#' || letter == ';') return false;
        if (letter == '\\' && at++ == value.size()) return false;
        if (letter == '"' && !skip_quoted(value, at)) return false;
    }
    return true;
}

bool is_plain_line(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (has_control_letter(line)) return false;
    if (line.empty()) return true;
    if (line.front() == '[') return is_plain_section(line);
    if (line.front() == '#' || line.front() == ';') return !line.ends_with('\\');
    size_t at = 0;
    while (at < line.size() && is_git_key_letter(line[at])) ++at;
    return at > 0 && line.substr(at).starts_with(" = ") && is_plain_value(line.substr(at + 3));
}

std::optional<RefusedSetting> refuse_odd_lines(std::string_view old_text, std::string_view new_text) {
    std::set<std::string_view> known;
    for (std::string_view line : base::split(old_text, '\n')) known.insert(line);
    size_t number = 0;
    for (std::string_view line : base::split(new_text, '\n')) {
        ++number;
        if (!known.contains(line) && !is_plain_line(line))
            return RefusedSetting{{}, number, "a line that git does not write in this form"};
    }
    return std::nullopt;
}

// ---- Harmless settings

enum class Check {
    word,        // letters, digits and "-": a switch, a number, one of several words
    text,        // git only stores and shows it
    reference,   // the name of a branch or a pattern of such names
    fetched,     // which references a fetch copies: not onto the user's own branches
    repository,  // the address of a repository
    remote,      // the name of a remote
    tracked,     // the name of a remote, or an address on a server
    update,      // how to update a submodule; "!" would start a program
};

struct Row {
    std::string_view key;
    Check check;
};

// Git runs no program for these keys and reads no file that they name. A key that is missing here can't be
// changed from inside. Here are keys that git, gh and glab write for a pull request, that `git branch -m` and
// `git remote rename` move, and that git's own hints propose. Not here on purpose: core.worktree,
// core.sharedRepository, branch.*.mergeOptions (names a program), remote.*.push, mirror and push.default
// (what a push outside sends), remote.*.promisor and partialCloneFilter (a `git status` outside would
// connect), rerere.autoUpdate (a merge outside would stage what the session recorded),
// status.showUntrackedFiles (hides files), commit.gpgSign, user.signingKey and everything below gpg, url,
// credential, filter, alias, include.
constexpr Row kRows[] = {
    {"core.repositoryformatversion", Check::word},
    {"core.filemode", Check::word},
    {"core.bare", Check::word},
    {"core.logallrefupdates", Check::word},
    {"core.ignorecase", Check::word},
    {"core.precomposeunicode", Check::word},
    {"core.symlinks", Check::word},
    {"core.sparsecheckout", Check::word},
    {"core.sparsecheckoutcone", Check::word},
    {"core.autocrlf", Check::word},
    {"core.eol", Check::word},
    {"core.safecrlf", Check::word},
    {"core.quotepath", Check::word},
    {"core.untrackedcache", Check::word},
    {"core.abbrev", Check::word},
    {"core.compression", Check::word},
    {"core.longpaths", Check::word},
    {"core.preloadindex", Check::word},
    {"core.whitespace", Check::text},
    {"extensions.worktreeconfig", Check::word},
    {"extensions.objectformat", Check::word},
    {"extensions.refstorage", Check::word},
    {"extensions.relativeworktrees", Check::word},
    {"user.name", Check::text},
    {"user.email", Check::text},
    {"user.useconfigonly", Check::word},
    {"author.name", Check::text},
    {"author.email", Check::text},
    {"committer.name", Check::text},
    {"committer.email", Check::text},
    {"remote.*.url", Check::repository},
    {"remote.*.pushurl", Check::repository},
    {"remote.*.fetch", Check::fetched},
    {"remote.*.tagopt", Check::text},
    {"remote.*.prune", Check::word},
    {"remote.*.prunetags", Check::word},
    {"remote.*.skipdefaultupdate", Check::word},
    {"remote.*.skipfetchall", Check::word},
    {"remote.*.followremotehead", Check::word},
    {"remote.*.gh-resolved", Check::text},
    {"remote.*.glab-resolved", Check::text},
    {"remote.*.github-pr-remote", Check::word},
    {"remote.pushdefault", Check::remote},
    {"branch.*.remote", Check::tracked},
    {"branch.*.pushremote", Check::tracked},
    {"branch.*.merge", Check::reference},
    {"branch.*.rebase", Check::word},
    {"branch.*.description", Check::text},
    {"branch.*.vscode-merge-base", Check::reference},
    {"branch.*.gh-merge-base", Check::reference},
    {"branch.*.github-pr-owner-number", Check::text},
    {"branch.*.github-pr-base-branch", Check::text},
    {"branch.autosetupmerge", Check::word},
    {"branch.autosetuprebase", Check::word},
    {"submodule.*.url", Check::repository},
    {"submodule.*.active", Check::word},
    {"submodule.*.branch", Check::reference},
    {"submodule.*.ignore", Check::word},
    {"submodule.*.fetchrecursesubmodules", Check::word},
    {"submodule.*.update", Check::update},
    {"submodule.active", Check::text},
    {"submodule.recurse", Check::word},
    {"submodule.fetchjobs", Check::word},
    {"index.sparse", Check::word},
    {"index.version", Check::word},
    {"pull.rebase", Check::word},
    {"pull.ff", Check::word},
    {"push.autosetupremote", Check::word},
    {"checkout.defaultremote", Check::remote},
    {"checkout.guess", Check::word},
    {"fetch.prune", Check::word},
    {"fetch.parallel", Check::word},
    {"fetch.showforcedupdates", Check::word},
    {"status.aheadbehind", Check::word},
    {"worktree.guessremote", Check::word},
    {"worktree.userelativepaths", Check::word},
    {"rebase.autostash", Check::word},
    {"rebase.autosquash", Check::word},
    {"rebase.updaterefs", Check::word},
    {"merge.conflictstyle", Check::word},
    {"merge.ff", Check::word},
    {"merge.renamelimit", Check::word},
    {"diff.renamelimit", Check::word},
    {"rerere.enabled", Check::word},
    {"init.defaultbranch", Check::reference},
    {"commit.verbose", Check::word},
    {"color.ui", Check::word},
    {"gc.auto", Check::word},
    {"maintenance.auto", Check::word},
    {"maintenance.strategy", Check::word},
    {"http.postbuffer", Check::word},
    {"http.lowspeedlimit", Check::word},
    {"http.lowspeedtime", Check::word},
    {"lfs.*.access", Check::word},
    {"lfs.*.locksverify", Check::word},
    {"lfs.repositoryformatversion", Check::word},
    {"advice.*", Check::word},
};

// "remote.*.url" has exactly one middle part, which may contain dots: git's own names split at the first and
// the last dot.
bool matches(std::string_view pattern, std::string_view key) {
    const size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == key;
    const std::string_view before = pattern.substr(0, star), behind = pattern.substr(star + 1);
    if (key.size() <= before.size() + behind.size()) return false;
    if (!key.starts_with(before) || !key.ends_with(behind)) return false;
    const std::string_view middle = key.substr(before.size(), key.size() - before.size() - behind.size());
    // "advice.*" has no middle part, and a subsection there would be another key.
    if (behind.empty()) return middle.find('.') == std::string_view::npos;
    return behind.substr(1).find('.') == std::string_view::npos && !middle.starts_with('-') &&
           middle.find("..") == std::string_view::npos && !has_control_letter(middle);
}

const Row* row_of(std::string_view key) {
    const Row* row = std::ranges::find_if(kRows, [&](const Row& each) { return matches(each.key, key); });
    return row == std::end(kRows) ? nullptr : row;
}

bool is_word(std::string_view text) {
    return std::ranges::all_of(text, is_git_key_letter);
}

bool is_reference(std::string_view text) {
    return !text.empty() && !text.starts_with('-') && !has_control_letter(text);
}

// "+refs/heads/*:refs/remotes/origin/*". Threat: a target below refs/heads lets the next fetch outside
// replace a branch with commits that exist nowhere else (tests/jail/git_addresses.bats).
bool is_fetched_aside(std::string_view text) {
    if (!is_reference(text)) return false;
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return true;
    const std::string_view target = text.substr(colon + 1);
    return target.empty() || target.starts_with("refs/remotes/") || target.starts_with("refs/tags/");
}

// The part of an address before the path, without user and port; empty if it is refused. Threat: ssh would
// take a leading "-" as an option. git takes "[...]" apart and decodes "%2d".
std::string_view server_of(std::string_view text) {
    if (text.starts_with('-') || text.find_first_of("[]%") != std::string_view::npos) return {};
    std::string_view host = text.substr(text.rfind('@') + 1);  // npos + 1 is 0
    if (host.starts_with('-')) return {};
    return host.substr(0, host.find(':'));
}

// As transport.c and connect.c decide. "word::address" and an unknown scheme start a program git-remote-WORD.
// Threat: git decodes "%68ome" in a path of these schemes to "home" (tests/jail/git_addresses.bats).
bool is_harmless_url(std::string_view scheme, std::string_view rest, const IsOutOfReach& is_out_of_reach) {
    const bool has_escape = rest.find('%') != std::string_view::npos;
    if (scheme == "file") return !has_escape && is_out_of_reach({}, rest);
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view server = server_of(rest.substr(0, slash));
    if (server.empty()) return false;
    constexpr std::string_view kSsh[] = {"ssh", "git+ssh", "ssh+git"};
    if (std::ranges::find(kSsh, scheme) != std::end(kSsh)) {
        std::string_view path = rest.substr(slash);
        if (path.starts_with("/~")) path.remove_prefix(1);
        return !has_escape && is_out_of_reach(server, path);
    }
    return scheme == "https" || scheme == "http" || scheme == "git";
}

bool is_harmless_address(std::string_view address, const IsOutOfReach& is_out_of_reach) {
    if (address.empty() || address.starts_with('-') || has_control_letter(address)) return false;
    if (address.find("::") != std::string_view::npos) return false;
    if (const size_t scheme = address.find("://"); scheme != std::string_view::npos)
        return is_harmless_url(address.substr(0, scheme), address.substr(scheme + 3), is_out_of_reach);
    const size_t colon = address.find(':'), slash = address.find('/');
    const bool is_local =
        colon == std::string_view::npos || (slash != std::string_view::npos && slash < colon);
    if (is_local) return is_out_of_reach({}, address);
    const std::string_view server = server_of(address.substr(0, colon)), path = address.substr(colon + 1);
    return !server.empty() && !path.starts_with('-') && is_out_of_reach(server, path);
}

// `gh pr checkout` writes the address of a fork where git expects a remote. A word or a path is not one: git
// would push to a directory of that name.
bool is_server_address(std::string_view value, const IsOutOfReach& is_out_of_reach) {
    const size_t colon = value.find(':');
    bool is_local = colon == std::string_view::npos || value.find('/') < colon || value.starts_with("file:");
    return !is_local && is_harmless_address(value, is_out_of_reach);
}

bool is_update(std::string_view value) {
    return value == "checkout" || value == "rebase" || value == "merge" || value == "none";
}

// ---- The comparison

class Judge {
  public:
    Judge(const StrictConfig& before, const StrictConfig& after, const IsOutOfReach& is_out_of_reach)
        : before_(before.settings), after_(after.settings), is_out_of_reach_(is_out_of_reach) {
        for (const StrictSetting& setting : before_) {
            if (is_address(setting)) known_addresses_.insert(*setting.value);
        }
        for (const StrictSetting& setting : before_) {
            if (!is_harmless(setting)) fixed_keys_.insert(setting.key);
        }
    }

    std::optional<RefusedSetting> judge() const {
        if (std::optional<RefusedSetting> changed = compare_fixed()) return changed;
        if (std::optional<RefusedSetting> changed = check_remotes()) return changed;
        return check_promisors();
    }

  private:
    static bool is_address(const StrictSetting& setting) {
        const Row* row = row_of(setting.key);
        return row != nullptr && row->check == Check::repository && setting.value;
    }

    bool is_harmless(const StrictSetting& setting) const {
        const Row* row = row_of(setting.key);
        if (row == nullptr || !setting.value) return false;
        const std::string& value = *setting.value;
        switch (row->check) {
            case Check::word:
                return is_word(value);
            case Check::text:
                return value.find('\0') == std::string::npos;
            case Check::reference:
                return is_reference(value);
            case Check::fetched:
                return is_fetched_aside(value);
            case Check::repository:
                // `git remote rename` moves an address that the user chose.
                return known_addresses_.contains(value) || is_harmless_address(value, is_out_of_reach_);
            case Check::remote:
            case Check::tracked:
                return true;  // check_remotes()
            case Check::update:
                return is_update(value);
        }
        return false;
    }

    bool is_fixed(const StrictSetting& setting) const {
        return fixed_keys_.contains(setting.key) || !is_harmless(setting);
    }

    std::optional<RefusedSetting> compare_fixed() const {
        auto next = [&](const std::vector<StrictSetting>& list, size_t& at) -> const StrictSetting* {
            while (at < list.size() && !is_fixed(list[at])) ++at;
            return at < list.size() ? &list[at++] : nullptr;
        };
        size_t in_before = 0, in_after = 0;
        while (true) {
            const StrictSetting* old = next(before_, in_before);
            const StrictSetting* now = next(after_, in_after);
            if (old == nullptr && now == nullptr) return std::nullopt;
            if (now == nullptr)
                return RefusedSetting{old->key, 0, "it can't be removed from inside the jail"};
            bool is_same = old != nullptr && old->key == now->key && old->value == now->value;
            if (!is_same) return explain(old, *now);
        }
    }

    RefusedSetting explain(const StrictSetting* old, const StrictSetting& now) const {
        bool is_known = std::ranges::any_of(before_, [&](const StrictSetting& each) {
            return each.key == now.key && each.value == now.value;
        });
        if (is_known && old != nullptr)
            return {old->key, 0, "it can't be removed or moved from inside the jail"};
        const Row* row = row_of(now.key);
        if (row == nullptr) return {now.key, now.line, "this key can't be set from inside the jail"};
        if (row->check == Check::repository)
            return {now.key, now.line,
                    "an address that starts a program, or a repository that the jail can write"};
        return {now.key, now.line, "this value can't be set from inside the jail"};
    }

    static std::set<std::string> remotes_in(const std::vector<StrictSetting>& settings) {
        std::set<std::string> remotes = {"."};
        for (const StrictSetting& setting : settings) {
            if (matches("remote.*.url", setting.key))
                remotes.insert(setting.key.substr(7, setting.key.size() - 7 - 4));
        }
        return remotes;
    }

    // Threat: branch.main.remote names a directory of the project, or a remote that is removed in the next
    // step: `git push` outside would run the hooks of that directory (tests/jail/git_addresses.bats).
    std::optional<RefusedSetting> check_remotes() const {
        const std::set<std::string> defined = remotes_in(after_), before = remotes_in(before_);
        for (const StrictSetting& setting : after_) {
            const Row* row = row_of(setting.key);
            bool is_address = row != nullptr && row->check == Check::tracked;
            if (row == nullptr || (row->check != Check::remote && !is_address)) continue;
            if (defined.contains(*setting.value)) continue;
            if (is_address && is_server_address(*setting.value, is_out_of_reach_)) continue;
            bool is_known = std::ranges::any_of(before_, [&](const StrictSetting& each) {
                return each.key == setting.key && each.value == setting.value;
            });
            if (is_known && !before.contains(*setting.value)) continue;
            return RefusedSetting{setting.key, setting.line, "it names no remote of this configuration"};
        }
        return std::nullopt;
    }

    // Whether git fetches a missing object from this remote by itself: promisor_remote_config() in
    // promisor-remote.c, where the filter alone is enough.
    bool is_promisor(std::string_view remote) const {
        return std::ranges::any_of(after_, [&](const StrictSetting& setting) {
            if (setting.key == "extensions.partialclone") return setting.value == remote;
            const std::string prefix = base::format("remote.{}.", remote);
            return setting.key == prefix + "promisor" || setting.key == prefix + "partialclonefilter";
        });
    }

    static std::vector<std::string> addresses_of(const std::vector<StrictSetting>& settings,
                                                 std::string_view remote) {
        std::vector<std::string> addresses;
        for (const StrictSetting& setting : settings) {
            if (setting.key == base::format("remote.{}.url", remote))
                addresses.push_back(setting.value.value_or(""));
        }
        return addresses;
    }

    // Threat: in a partial clone the session removes an object and sets the address. Then the next `git
    // status` outside connects there, with what the session wrote into the address
    // (tests/jail/git_addresses.bats).
    std::optional<RefusedSetting> check_promisors() const {
        std::set<std::string> remotes = remotes_in(after_);
        remotes.merge(remotes_in(before_));
        for (const std::string& remote : remotes) {
            if (is_promisor(remote) && addresses_of(before_, remote) != addresses_of(after_, remote))
                return RefusedSetting{base::format("remote.{}.url", remote), 0,
                                      "git fetches missing objects of a partial clone from there by itself"};
        }
        return std::nullopt;
    }

    const std::vector<StrictSetting>& before_;
    const std::vector<StrictSetting>& after_;
    const IsOutOfReach& is_out_of_reach_;
    std::set<std::string, std::less<>> known_addresses_;
    std::set<std::string, std::less<>> fixed_keys_;
};

}  // namespace

std::optional<RefusedSetting> judge_git_config(std::string_view old_text, std::string_view new_text,
                                               const IsOutOfReach& is_out_of_reach) {
    if (new_text.size() > kLongestJudgedConfig) return RefusedSetting{{}, 0, "the text is too long"};
    if (new_text.find('\0') != std::string_view::npos) return RefusedSetting{{}, 0, "it has a NUL byte"};
    const StrictConfig before = parse_git_config_strictly(old_text);
    if (before.bad_line != 0)
        return RefusedSetting{
            {}, 0, base::format("git can't read line {} of the present file", before.bad_line)};
    const StrictConfig after = parse_git_config_strictly(new_text);
    if (after.bad_line != 0) return RefusedSetting{{}, after.bad_line, "git can't read this line"};
    if (std::optional<RefusedSetting> refused = Judge(before, after, is_out_of_reach).judge()) return refused;
    return refuse_odd_lines(old_text, new_text);
}

std::string with_file_mode(std::string_view old_text, std::string new_text) {
    constexpr std::string_view kTested = "\tfilemode = false\n";
    const StrictConfig before = parse_git_config_strictly(old_text);
    bool was_set = std::ranges::any_of(
        before.settings, [](const StrictSetting& setting) { return setting.key == "core.filemode"; });
    const size_t found = was_set ? std::string::npos : new_text.find(kTested);
    if (found != std::string::npos) new_text.replace(found, kTested.size(), "\tfilemode = true\n");
    return new_text;
}

}  // namespace plan
