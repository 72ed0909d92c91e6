// SPDX-License-Identifier: MIT
// Properties of every git configuration and ".git" file that a project can contain, and of the summary in the
// jail. Each function returns the claim that these bytes break, or null.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/text.h"
#include "config/layer.h"
#include "host/tree.h"
#include "plan/home/seeded.h"
#include "plan/print/summary.h"
#include "plan/project/git.h"
#include "plan/project/git_config.h"
#include "plan/template.h"

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

inline const char* broken_for_seeded(std::string_view bytes) {
    std::string kept = without_secrets(bytes);
    if (without_secrets(kept) != kept) return "what is left holds no secret";
    // Each remaining line is a line of the file, in the same order.
    std::vector<std::string_view> lines = base::split(bytes, '\n');
    auto place = lines.begin();
    for (std::string_view line : base::split(kept, '\n')) {
        if (line.empty()) continue;
        place = std::find(place, lines.end(), line);
        if (place++ == lines.end()) return "lines are left out, none is made";
    }
    return nullptr;
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
