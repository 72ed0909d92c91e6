// SPDX-License-Identifier: MIT
// Theory of operation. The new text must get the name "config" in one step, for readers outside, and no
// process of the jail may have the file open for writing, neither before nor after. A new file would be
// uncovered for a moment, in this jail and in every other one of the same project. So each directory with a
// configuration has a spare file beside it (base/inside/jail_files.h), which the launch makes and covers
// like the configuration itself. The keeper writes the text into the spare file, which the jail can only
// read, and exchanges the two names outside (RENAME_EXCHANGE). Mounts belong to the files and not to the
// names: both stay covered in every jail. No mount changes.
//
// The caller has created config.lock, so it holds git's lock, and no git outside writes at the same time. If
// another program did, the exchange is undone.
#include "session/guard/git_config_gate.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/text.h"
#include "plan/project/git_config_change.h"
#include "plan/project/git_config_strict.h"
#include "session/guard/cover_guard.h"
#include "session/guard/git_addresses.h"

template <>
inline constexpr auto base::kFields<session::GitVerdict> =
    std::tuple(&session::GitVerdict::path, &session::GitVerdict::is_accepted, &session::GitVerdict::key,
               &session::GitVerdict::line, &session::GitVerdict::why, &session::GitVerdict::moved_remotes,
               &session::GitVerdict::is_file, &session::GitVerdict::ends_session);

namespace session {
namespace {

using doorman::Answer;

// Most reports of one configuration; the record would fill up otherwise.
constexpr int kMostVerdicts = 100;
constexpr mode_t kPermissions = 07777;

bool is_same_directory(int one, int other) {
    struct stat of_one, of_other;
    return ::fstat(one, &of_one) == 0 && ::fstat(other, &of_other) == 0 && of_one.st_dev == of_other.st_dev &&
           of_one.st_ino == of_other.st_ino;
}

struct ConfigFile {
    std::string text;
    mode_t mode = 0;
};

// A plain file of this user with one name; anything else is nothing.
std::optional<ConfigFile> read_plain(int directory, const std::string& name) {
    base::Fd file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
    if (!S_ISREG(status.st_mode) || status.st_nlink != 1 || status.st_uid != ::geteuid()) return std::nullopt;
    if (status.st_size > static_cast<off_t>(plan::kLongestJudgedConfig)) return std::nullopt;
    base::Result<std::string> text = base::read_descriptor(file.get(), plan::kLongestJudgedConfig);
    if (!text) return std::nullopt;
    return ConfigFile{*std::move(text), status.st_mode & kPermissions};
}

// Whether no process has the file open for writing: only then the kernel grants a read lease.
bool has_no_writer(int directory, const std::string& name) {
    base::Fd file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file || ::fcntl(file.get(), F_SETLEASE, F_RDLCK) != 0) return false;
    return ::fcntl(file.get(), F_SETLEASE, F_UNLCK) == 0;
}

// Emptied first: a reader outside that still has this file open from before the last exchange then reads
// nothing or the new text, never a mixture.
bool write_spare(int directory, const std::string& name, const ConfigFile& content) {
    // The placeholder is read-only for its owner, too.
    constexpr mode_t kWhileWritten = 0600;
    base::Fd shown(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    bool is_plain = shown && ::fstat(shown.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_nlink == 1 && status.st_uid == ::geteuid();
    if (!is_plain || ::fchmod(shown.get(), kWhileWritten) != 0) return false;
    base::Fd file(::openat(directory, name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    return file && ::ftruncate(file.get(), 0) == 0 && base::write_all(file.get(), content.text) &&
           ::fchmod(file.get(), content.mode) == 0;
}

// Whether the file system stores the executable bit. The spare file is not in use.
bool stores_modes(int directory, const std::string& name) {
    base::Fd file(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    auto has_mode = [&](mode_t mode) {
        struct stat status;
        return ::fchmod(file.get(), mode) == 0 && ::fstat(file.get(), &status) == 0 &&
               (status.st_mode & kPermissions) == mode;
    };
    return file && has_mode(0700) && has_mode(0600);
}

bool exchange(int directory, const std::string& one, const std::string& other) {
    // The C library of old systems has no wrapper.
    return ::syscall(SYS_renameat2, directory, one.c_str(), directory, other.c_str(), RENAME_EXCHANGE) == 0;
}

// Whether a program inside can't replace the name. A pinned directory is not a file that it would write.
bool closes(const backends::Cover& cover) {
    return cover.kind == backends::Cover::Kind::readonly || cover.kind == backends::Cover::Kind::nothing;
}

// The keys that were added, changed or removed, each once.
std::string changed_keys(std::string_view before, std::string_view after) {
    using Settings = std::multiset<std::pair<std::string, std::optional<std::string>>>;
    auto settings_in = [](std::string_view text) {
        Settings settings;
        for (plan::StrictSetting& setting : plan::parse_git_config_strictly(text).settings)
            settings.emplace(std::move(setting.key), std::move(setting.value));
        return settings;
    };
    const Settings old = settings_in(before), now = settings_in(after);
    std::vector<std::pair<std::string, std::optional<std::string>>> changed;
    std::ranges::set_symmetric_difference(old, now, std::back_inserter(changed));
    std::vector<std::string> keys;
    for (const auto& [key, value] : changed) {
        if (keys.empty() || keys.back() != key) keys.push_back(key);
    }
    return base::join(keys, ", ");
}

// Where a push goes: the addresses of each remote, the remote of each branch that has one, and the remote of
// the others.
std::map<std::string, std::set<std::string>> targets_in(std::string_view text) {
    std::map<std::string, std::set<std::string>> targets;
    std::map<std::string, std::string> pulled, pushed;
    std::string everywhere = "origin";
    bool is_everywhere = false;
    for (const plan::StrictSetting& setting : plan::parse_git_config_strictly(text).settings) {
        const size_t last = setting.key.rfind('.');
        const std::string_view name = std::string_view(setting.key).substr(last + 1);
        const std::string section = setting.key.substr(0, last), value = setting.value.value_or("");
        const bool is_branch = section.starts_with("branch.");
        if (section.starts_with("remote.") && (name == "url" || name == "pushurl"))
            targets[section].insert(std::string(name) + value);
        if (setting.key == "remote.pushdefault") {
            everywhere = value;
            is_everywhere = true;
        }
        if (is_branch && name == "remote") pulled[section] = value;
        if (is_branch && name == "pushremote") pushed[section] = value;
    }
    for (auto& [branch, remote] : pulled) {
        auto own = pushed.find(branch);
        if (is_everywhere) remote = everywhere;
        targets[branch] = {own != pushed.end() ? own->second : remote};
    }
    targets["remote.pushdefault"] = {everywhere};
    return targets;
}

std::vector<std::string> moved_remotes(std::string_view before, std::string_view after) {
    constexpr size_t kMost = 10;
    std::vector<std::string> moved;
    const std::map<std::string, std::set<std::string>> now = targets_in(after);
    for (const auto& [name, targets] : targets_in(before)) {
        auto found = now.find(name);
        bool is_moved = found != now.end() && found->second != targets && name.size() < 200;
        if (is_moved && moved.size() < kMost) moved.push_back(name);
    }
    return moved;
}

// Threat: `git push origin` outside takes the name of a remote that is gone as the path of a repository, and
// runs the hooks of what a session wrote there (tests/jail/git_addresses.bats).
std::optional<plan::RefusedSetting> removed_remote(std::string_view before, std::string_view after) {
    auto addresses_in = [](std::string_view text) {
        std::set<std::string> keys;
        for (const plan::StrictSetting& setting : plan::parse_git_config_strictly(text).settings) {
            if (setting.key.starts_with("remote.") && setting.key.ends_with(".url")) keys.insert(setting.key);
        }
        return keys;
    };
    const std::set<std::string> now = addresses_in(after);
    for (const std::string& key : addresses_in(before)) {
        if (!now.contains(key))
            return plan::RefusedSetting{
                key, 0, "a remote from before this session can't be removed or renamed from inside the jail"};
    }
    return std::nullopt;
}

}  // namespace

std::string encode(const GitVerdict& verdict) {
    base::FieldWriter writer;
    base::write(writer, verdict);
    return kGitVerdict + writer.take();
}

std::optional<GitVerdict> decode_git_verdict(std::string_view message) {
    if (!message.starts_with(kGitVerdict)) return std::nullopt;
    base::FieldReader reader(message.substr(1));
    GitVerdict verdict;
    base::read(reader, verdict);
    if (!reader.is_good()) return std::nullopt;
    return verdict;
}

doorman::Hooks GitConfigGate::hooks() {
    worktrees_.find(covers_.covers());
    for (const backends::Cover& cover : covers_.covers()) {
        if (closes(cover)) names_.emplace(cover.outside.name());
    }
    return {.enter_wall = {},
            .on_refused_name = {},
            .is_judged_name = [this](std::string_view name) { return names_.contains(name); },
            .on_rename = [this](const doorman::Rename& rename) { return answer(rename); },
            .is_judged_removal = [this](std::string_view name,
                                        bool is_rmdir) { return worktrees_.is_judged(name, is_rmdir); },
            .on_removal = [this](const doorman::Removal& removal) { return remove(removal); }};
}

Answer GitConfigGate::remove(const doorman::Removal& removal) {
    if (covers_.is_empty()) return Answer::proceed();
    Answer answer = worktrees_.answer(removal);
    for (const WorktreeRemoval::Removed& gone : worktrees_.take_removed()) {
        // What git makes there later belongs to the session, as every new worktree does.
        covers_.forget(gone.path);
        if (gone.is_tree)
            report({.path = gone.path, .is_accepted = true, .key = "worktree", .why = "git removed it"});
    }
    return answer;
}

// The kernel refuses a rename onto a mount point. Without a trace of files this is the only refused write
// that a process outside sees.
void GitConfigGate::note_refused(const doorman::Rename& rename) {
    struct stat status;
    if (::fstatat(rename.from_directory, rename.from_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    for (const backends::Cover& cover : covers_.covers()) {
        if (!closes(cover) || cover.outside.name() != rename.to_name) continue;
        base::Fd directory(base::open_without_links(cover.outside.parent(), O_PATH | O_DIRECTORY));
        if (!directory || !is_same_directory(directory.get(), rename.to_directory)) continue;
        return report({.path = cover.outside,
                       .key = {},
                       .why = "another file can't take a protected or masked name",
                       .is_file = true});
    }
}

// The covers, not the caller's path, tell where the file is outside.
std::optional<GitConfigGate::Place> GitConfigGate::find(const doorman::Rename& rename) const {
    auto is_covered = [&](const base::Path& path) {
        return std::ranges::any_of(covers_.covers(), [&](const backends::Cover& cover) {
            return cover.kind == backends::Cover::Kind::readonly && cover.outside == path;
        });
    };
    for (const backends::Cover& cover : covers_.covers()) {
        if (!is_git_configuration(cover.outside) || cover.outside.name() != rename.to_name) continue;
        base::Fd directory(base::open_without_links(cover.outside.parent(), O_RDONLY | O_DIRECTORY));
        if (!directory || !is_same_directory(directory.get(), rename.to_directory)) continue;
        if (!is_covered(cover.outside) || !is_covered(cover.outside.parent() / base::kSpareConfig)) break;
        return Place{cover.outside, std::move(directory)};
    }
    return std::nullopt;
}

// Every other rename onto the name fails in the kernel, with EBUSY.
Answer GitConfigGate::answer(const doorman::Rename& rename) {
    if (covers_.is_empty()) return Answer::proceed();
    std::optional<Place> place = find(rename);
    bool is_gits = place && rename.from_name == rename.to_name + ".lock" &&
                   is_same_directory(place->directory.get(), rename.from_directory);
    if (!is_gits) {
        note_refused(rename);
        return Answer::proceed();
    }
    // Threat: the caller changes the file while it is judged. It is read once, and only that text is written
    // (tests/jail/git_config.bats).
    std::optional<ConfigFile> wanted = read_plain(place->directory.get(), rename.from_name);
    if (!wanted) return refuse(*place, {.path = {}, .key = {}, .why = "config.lock is not a plain file"});
    std::optional<ConfigFile> present = read_plain(place->directory.get(), rename.to_name);
    if (!present)
        return refuse(*place, {.path = {}, .key = {}, .why = "the present file is not a plain file"});
    std::string fixed = plan::with_file_mode(present->text, wanted->text);
    if (fixed != wanted->text && stores_modes(place->directory.get(), std::string(base::kSpareConfig)))
        wanted->text = std::move(fixed);
    std::optional<plan::RefusedSetting> refused =
        plan::judge_git_config(present->text, wanted->text, is_beyond_user);
    const std::string& first = histories_[place->path].first;
    if (!refused) refused = removed_remote(first.empty() ? present->text : first, wanted->text);
    if (refused)
        return refuse(*place, {.path = {},
                               .key = base::printable(refused->key),
                               .line = refused->line,
                               .why = std::move(refused->why)});
    Answer answer =
        present->text == wanted->text ? Answer::of(0) : replace(*place, present->text, wanted->text);
    if (answer.error == 0) ::unlinkat(place->directory.get(), rename.from_name.c_str(), 0);
    return answer;
}

Answer GitConfigGate::replace(const Place& place, const std::string& before, const std::string& after) {
    const int directory = place.directory.get();
    const std::string name(place.path.name()), spare(base::kSpareConfig);
    const base::Path spare_path = place.path.parent() / base::kSpareConfig;
    // A program outside may have uncovered one of them just now.
    for (const base::Path& bare : guard_.cover_now()) {
        if (bare == place.path || bare == spare_path) return Answer::of(EBUSY);
    }
    std::optional<ConfigFile> present = read_plain(directory, name);
    if (!present || present->text != before) return Answer::of(EBUSY);
    // A placeholder for a missing configuration is read-only; git would make the file with the usual mode.
    constexpr mode_t kOwnerWrites = 0200;
    const mode_t mode = before.empty() ? present->mode | kOwnerWrites : present->mode;
    if (!write_spare(directory, spare, {after, mode})) return Answer::of(EIO);
    std::optional<ConfigFile> written = read_plain(directory, spare);
    // Threat: a session with another backend has the spare file open for writing.
    if (!written || written->text != after || !has_no_writer(directory, spare)) return Answer::of(EBUSY);
    if (!exchange(directory, spare, name)) return Answer::of(EBUSY);
    std::optional<ConfigFile> replaced = read_plain(directory, spare);
    if (!replaced || replaced->text != before) {
        exchange(directory, spare, name);
        return Answer::of(EBUSY);
    }
    History& history = histories_[place.path];
    if (history.first.empty()) history.first = before;
    report({.path = place.path,
            .is_accepted = true,
            .key = base::printable(changed_keys(before, after)),
            .moved_remotes = moved_remotes(history.first, after)});
    return Answer::of(0);
}

void GitConfigGate::note_moved(const base::Path& head, bool ends_session) {
    report({.path = head,
            .key = {},
            .why = "git would take the project for this repository; the file was moved out of the project",
            .is_file = true,
            .ends_session = ends_session});
}

Answer GitConfigGate::refuse(const Place& place, GitVerdict verdict) {
    verdict.path = place.path;
    report(std::move(verdict));
    return Answer::of(EPERM);
}

void GitConfigGate::report(GitVerdict verdict) {
    History& history = histories_[verdict.path];
    if (!verdict.is_accepted) verdict.moved_remotes = history.moved;
    bool is_moved = verdict.moved_remotes != history.moved;
    if (++history.reports > kMostVerdicts && !is_moved && !verdict.ends_session) return;
    history.moved = verdict.moved_remotes;
    constexpr size_t kLongestKey = 1000;
    if (verdict.key.size() > kLongestKey) verdict.key.resize(kLongestKey);
    const std::string message = encode(verdict);
    (void)!::send(socket_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace session
