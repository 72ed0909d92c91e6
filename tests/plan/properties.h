// SPDX-License-Identifier: MIT
// Properties of every git configuration and ".git" file that a project can contain, and of the summary in the
// jail. Each function returns the claim that these bytes break, or null.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/text.h"
#include "config/layer.h"
#include "host/tree.h"
#include "plan/agent/agent.h"
#include "plan/home/filtered_files.h"
#include "plan/home/registry_files.h"
#include "plan/network/known_hosts.h"
#include "plan/print/summary.h"
#include "plan/project/git.h"
#include "plan/project/git_config_change.h"
#include "plan/project/git_index.h"

namespace plan {

// A name in git's syntax; the part in the middle may be anything.
inline bool is_git_key(std::string_view key) {
    auto is_name = [](std::string_view name) {
        return !name.empty() && std::ranges::all_of(name, [](char letter) {
            return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
        });
    };
    return is_name(key.substr(0, key.find('.'))) && is_name(key.substr(key.rfind('.') + 1));
}

inline const char* broken_for_git_config(std::string_view bytes) {
    std::vector<GitSetting> settings = parse_git_config(bytes);
    if (settings.size() > bytes.size()) return "a setting takes a byte";
    std::erase_if(settings, [](const GitSetting& setting) { return !is_git_key(setting.key); });
    auto is_same = [](const GitSetting& one, const GitSetting& other) {
        return one.key == other.key && one.value == other.value;
    };
    bool says_the_same = std::ranges::equal(settings, parse_git_config(git_config_text(settings)), is_same);
    return says_the_same ? nullptr : "what was read can be written down and says the same";
}

// A new text of a configuration. The parser that looks for programs is another one than the judge's.
inline const char* broken_for_git_change(std::string_view bytes) {
    constexpr std::string_view kOld = "[core]\n\tbare = false\n[alias]\n\tx = !y\n";
    auto is_out_of_reach = [](std::string_view, std::string_view) { return false; };
    std::optional<RefusedSetting> refused = judge_git_config(kOld, bytes, is_out_of_reach);
    if (refused) return refused->why.empty() ? "a refusal has a reason" : nullptr;
    size_t programs = 0;
    for (const GitSetting& setting : parse_git_config(bytes)) {
        if (program_row(setting) == nullptr) continue;
        if (setting.key != "alias.x" || setting.value != "!y") return "no program is accepted";
        ++programs;
    }
    if (programs != 1) return "settings of the user stay";
    return judge_git_config(bytes, bytes, is_out_of_reach) ? "an accepted text can stay" : nullptr;
}

inline const char* broken_for_seeded(std::string_view bytes) {
    std::string kept = without_secrets(bytes);
    if (without_secrets(kept) != kept) return "what is left holds no secret";
    // Each remaining line is a line of the file, or the section at its beginning, in the same order.
    std::vector<std::string_view> lines = base::split(bytes, '\n');
    auto place = lines.begin();
    for (std::string_view line : base::split(kept, '\n')) {
        if (line.empty()) continue;
        place = std::find_if(place, lines.end(), [&](std::string_view whole) {
            return whole == line || (line.ends_with(']') && base::trim(whole).starts_with(line));
        });
        if (place++ == lines.end()) return "lines are left out, none is made";
    }
    return nullptr;
}

// An index that a jail has written.
inline const char* broken_for_git_index(std::string_view bytes) {
    const TrackedPaths wanted = {".env", "conf/.env.local"};
    const TrackedPaths found = tracked_among(bytes, wanted);
    if (!found.empty() && !bytes.starts_with("DIRC")) return "only an index names files";
    bool is_wanted = std::ranges::includes(wanted, found);
    return is_wanted ? nullptr : "no other path is named";
}

// A working tree whose ".git" is a file with this text. One worktree of the repository names this working
// tree; the other repositories must stay closed.
inline const char* broken_for_git_link(std::string_view bytes) {
    auto make_file = [](std::string_view content) {
        std::string text;
        for (char letter : content)
            text += letter == '\n'   ? "\\n"
                    : letter == '\t' ? "\\t"
                    : letter == ' '  ? "\\s"
                    : letter == '\\' ? "\\\\"
                                     : std::string(1, letter);
        return text;
    };
    base::Result<host::MemoryTree> tree = host::MemoryTree::parse(
        "d /home/me/main/.git/objects\nf /home/me/main/.git/HEAD 0644 ref:\n"
        "f /home/me/main/.git/worktrees/w/gitdir 0644 /home/me/project/.git\\n\n"
        "f /home/me/main/.git/worktrees/w/commondir 0644 ../..\\n\nf /home/me/main/.git/worktrees/w/HEAD "
        "0644 ref:\n"
        "f /home/me/main/.git/worktrees/other/gitdir 0644 /home/me/elsewhere/.git\\n\n"
        "f /home/me/main/.git/worktrees/other/commondir 0644 ../..\\n\n"
        "d /home/me/victim/.git/objects\nf /home/me/victim/.git/HEAD 0644 ref:\nf "
        "/home/me/victim/.git/config 0644 [core]\\nbare=false\n"
        "f /home/me/.ssh/config 0600 Host\nd /etc/git\nl /home/me/link /home/me/main/.git/worktrees/w\n"
        "f /home/me/project/.git 0644 " +
        make_file(bytes) + "\n");
    if (!tree) return nullptr;  // A listing can't express some bytes, such as a carriage return.
    std::optional<GitPlaces> places = find_git(*tree, base::Path::known("/home/me/project"));
    if (!places) return nullptr;
    if (places->directory.str() != "/home/me/main/.git/worktrees/w")
        return "only a directory that names the working tree is believed";
    return places->common.str() == "/home/me/main/.git" ? nullptr : "only the repository behind it is opened";
}

// The notice for an agent, NUL, and the user's own instructions; both may contain anything, even marks.
inline const char* broken_for_marks(std::string_view bytes) {
    size_t end = std::min(bytes.find('\0'), bytes.size());
    const std::string notice(bytes.substr(0, end)), original(bytes.substr(std::min(end + 1, bytes.size())));
    if (agent_file_text("{notice}-{original}{none}", notice, original) != notice + "-" + original + "{none}")
        return "both are in the file as they are";
    base::Result<base::Json> json =
        base::Json::parse(agent_file_text(R"({"a":{notice:json},"theirs":true})", notice, original));
    if (!json || !json->truth("theirs")) return "settings in JSON stay settings in JSON";
    config::ParsedFile toml = config::parse_layer(
        config::Layer::profile, "f",
        agent_file_text("[agent]\nlogin = {notice:toml}\ntitle = 'theirs'\n", notice, original));
    for (const base::Error& problem : toml.problems) {
        if (!problem.where.starts_with("f:2:")) return "settings in TOML stay settings in TOML";
    }
    if (!base::is_valid_utf8(notice)) return nullptr;
    if (json->text("a") != notice) return "a notice in JSON reads as the notice";
    bool is_read = toml.problems.empty() && !notice.empty();
    return is_read && toml.content.values["agent.login"].text != notice
               ? "a notice in TOML reads as the notice"
               : nullptr;
}

// The settings of a package manager: an .npmrc, or Maven's settings.
inline const char* broken_for_registry(std::string_view bytes) {
    const std::string npm = npm_settings(bytes);
    if (npm_settings(npm) != npm) return "the copy of a copy of .npmrc is the same";
    for (std::string_view line : base::split(npm, '\n')) {
        if (line.find('@', 1) != std::string_view::npos || line.find("_auth") != std::string_view::npos)
            return "no user and no token is in the copy of .npmrc";
    }
    const std::string pip = pip_settings(bytes);
    if (pip_settings(pip) != pip) return "the copy of a copy of pip.conf is the same";
    if (pip.find('@') != std::string::npos) return "no user is in the copy of pip.conf";
    std::optional<std::string> maven = maven_settings(bytes);
    if (!maven) return nullptr;
    if (maven->find('@') != std::string::npos || maven->find('&') != std::string::npos)
        return "no user and no entity is in the copy of Maven's settings";
    if (maven->find("password") != std::string::npos && bytes.find("password") == std::string_view::npos)
        return "nothing is made up";
    std::optional<std::string> again = maven_settings(*maven);
    return maven->empty() || (again && *again == *maven) ? nullptr : "the copy of a copy is the same";
}

inline const char* broken_for_known_hosts(std::string_view bytes) {
    base::Result<network::Rule> rule = network::parse_rule("git.example.org", network::Side::allow);
    if (!rule) return "the rule parses";
    const std::string keys = permitted_host_keys(bytes, std::span(&*rule, 1));
    for (std::string_view line : base::split(keys, '\n')) {
        if (line.empty()) continue;
        for (std::string_view marker : {"@revoked ", "@cert-authority "}) {
            if (line.starts_with(marker)) line.remove_prefix(marker.size());
        }
        std::string_view names = line.substr(0, line.find(' '));
        for (std::string_view name : base::split(names, ',')) {
            if (name != "git.example.org" && !name.starts_with("[git.example.org]:"))
                return "only the permitted host is named";
        }
        if (std::ranges::count(line, ' ') != 2) return "a line is a name, a type and a key";
    }
    return nullptr;
}

inline const char* broken_for_summary(std::string_view bytes) {
    base::Result<Plan> plan = decode_summary(bytes);
    if (!plan) return plan.error().what.empty() ? "an error says what is wrong" : nullptr;
    // Several round trips: the first one adds missing rows, and the last one must change nothing.
    std::string before;
    for (int journey = 0; journey < 3; ++journey) {
        before = encode_summary(*plan);
        plan = decode_summary(before);
        if (!plan) return "what was read can be written down and read";
    }
    return encode_summary(*plan) == before ? nullptr : "what was written down says the same";
}

}  // namespace plan
