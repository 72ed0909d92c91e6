// SPDX-License-Identifier: MIT
// The text is a setting in JSON, TOML, YAML or the language of a shell. It is not parsed: a name counts
// wherever it stands, also in a comment or as a part of a command. So a file too many is protected, and none
// too few, unless the shell computes the name (SECURITY.md).
#include "plan/agent/named_files.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"

namespace plan {
namespace {

constexpr std::string_view kScripts[] = {".sh",  ".bash", ".zsh", ".fish", ".py",  ".js",
                                         ".mjs", ".cjs",  ".ts",  ".mts",  ".cts", ".rb",
                                         ".pl",  ".lua",  ".php", ".ps1",  ".cmd", ".bat"};
constexpr std::string_view kData[] = {".json",   ".jsonl",      ".md",         ".toml",   ".yml",    ".yaml",
                                      ".log",    ".lock",       ".txt",        ".db",     ".sqlite", ".pid",
                                      ".db-wal", ".sqlite-wal", ".sqlite-shm", ".db-shm", ".jsonc"};

bool belongs_to_name(char c) {
    return base::is_name_character(c) || c == '-' || c == '.';
}

// Where a word ends that is not in quotes, and one that is.
constexpr std::string_view kEnds = " \t\r\n\"'`;|&<>(),=[]{}\\*?";
constexpr std::string_view kQuotes = "\"'`\r\n\\";

// JSON may write a slash with a backslash before it.
std::string with_plain_slashes(std::string_view text) {
    if (text.find("\\/") == std::string_view::npos) return std::string(text);
    std::string plain;
    plain.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        bool is_escape = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '/';
        if (!is_escape) plain += text[i];
    }
    return plain;
}

// A relative path without "..", "." and empty components.
void add_path(std::set<std::string>& found, std::string_view text) {
    std::string path;
    for (std::string_view component : base::split(text, '/')) {
        if (component.empty() || component == ".") continue;
        if (component == "..") return;
        if (!path.empty()) path += '/';
        path += component;
    }
    if (!path.empty() && path.size() < 1024) found.insert(std::move(path));
}

// The word that begins here, and, as its name may have blanks, the rest of what stands in quotes.
void add_words(std::set<std::string>& found, std::string_view rest) {
    add_path(found, rest.substr(0, rest.find_first_of(kEnds)));
    add_path(found, rest.substr(0, rest.find_first_of(kQuotes)));
}

bool follows_home(std::string_view before, std::string_view home) {
    return before.ends_with("~/") || before.ends_with("HOME/") || before.ends_with("HOME}/") ||
           (before.ends_with('/') && before.substr(0, before.size() - 1).ends_with(home));
}

}  // namespace

bool is_script_name(std::string_view name) {
    return std::ranges::any_of(kScripts, [&](std::string_view ending) { return name.ends_with(ending); });
}

bool is_data_name(std::string_view name) {
    return std::ranges::any_of(kData, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::set<std::string> named_in_state(std::string_view text, std::span<const host::Entry> entries) {
    std::set<std::string> found;
    const std::string plain = with_plain_slashes(text);
    const std::string_view all = plain;
    for (const host::Entry& entry : entries) {
        if (entry.name.empty()) continue;
        // A word such as "debug" is a name only behind a slash.
        const bool is_plain_word = entry.name.find('.') == std::string::npos;
        for (size_t at = all.find(entry.name); at != std::string_view::npos;
             at = all.find(entry.name, at + 1)) {
            const size_t end = at + entry.name.size();
            const char before = at == 0 ? ' ' : all[at - 1], after = end < all.size() ? all[end] : ' ';
            if (belongs_to_name(before) || belongs_to_name(after)) continue;
            if (after == '/') {
                add_words(found, all.substr(at));
            } else if (before == '/' || !is_plain_word) {
                found.insert(entry.name);
            }
        }
    }
    return found;
}

std::set<std::string> named_from_home(std::string_view text, std::string_view directory,
                                      std::string_view home) {
    std::set<std::string> found;
    const std::string plain = with_plain_slashes(text);
    const std::string_view all = plain;
    const std::string start = std::string(directory) + "/";
    for (size_t at = all.find(start); at != std::string_view::npos; at = all.find(start, at + 1)) {
        if (follows_home(all.substr(0, at), home)) add_words(found, all.substr(at + start.size()));
    }
    return found;
}

}  // namespace plan
