// SPDX-License-Identifier: MIT
// Properties of every settings file, every profile and every environment. Each function returns the claim
// that these bytes break, or null.
#pragma once

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/files/sources.h"
#include "config/layer.h"
#include "config/profile.h"
#include "config/toml_text.h"

namespace config {

inline bool is_one_line(const base::Error& error) {
    return !error.what.empty() && base::printable(error.line()) == error.line();
}

// "file.toml:LINE:COLUMN", in a text with this number of lines.
inline bool is_within_file(std::string_view where, std::string_view file, int lines) {
    if (!where.starts_with(file) || !where.substr(file.size()).starts_with(':')) return false;
    where.remove_prefix(file.size() + 1);
    int line = 0, column = 0;
    auto [rest, error] = std::from_chars(where.data(), where.data() + where.size(), line);
    if (error != std::errc() || rest == where.data() + where.size() || *rest != ':') return false;
    auto [end, problem] = std::from_chars(rest + 1, where.data() + where.size(), column);
    return problem == std::errc() && end == where.data() + where.size() && line >= 1 && line <= lines &&
           column >= 1;
}

// The same settings as a file.
inline std::string as_toml(const LayerFile& layer) {
    std::map<std::string_view, std::string> sections;  // by name; the one without a name comes first
    for (const auto& [key, value] : layer.values) {
        const Setting* setting = find_setting(key);
        if (setting == nullptr) return "a setting that does not exist";
        std::vector<std::string> entries;
        for (const Item& item : value.items) entries.push_back(item.text);
        sections[section_of(*setting)] +=
            std::string(name_in_section(*setting)) + " = " +
            (is_list(setting->type) ? toml_list(*setting, entries) : toml_scalar(*setting, value.text)) +
            "\n";
    }
    std::string text;
    for (const auto& [name, lines] : sections)
        text += (name.empty() ? "" : "[" + std::string(name) + "]\n") + lines;
    if (layer.match_project) text += "[match]\nproject = " + toml_string(*layer.match_project) + "\n";
    return text;
}

inline bool is_same(const LayerFile& one, const LayerFile& other) {
    auto same_item = [](const Item& a, const Item& b) { return a.text == b.text; };
    auto same_value = [&](const auto& a, const auto& b) {
        return a.first == b.first && a.second.text == b.second.text &&
               std::ranges::equal(a.second.items, b.second.items, same_item);
    };
    return one.match_project == other.match_project &&
           std::ranges::equal(one.values, other.values, same_value);
}

inline const char* broken_for_layer(std::string_view bytes) {
    int lines = static_cast<int>(std::ranges::count(bytes, '\n')) + 1;
    for (Layer layer : {Layer::user, Layer::admin, Layer::project}) {
        ParsedFile parsed = parse_layer(layer, "file.toml", bytes);
        for (const base::Error& problem : parsed.problems) {
            if (!is_one_line(problem)) return "a problem is one printable line";
            if (!is_within_file(problem.where, "file.toml", lines))
                return "a problem is at a place in the file";
        }
        if (!parsed.problems.empty()) continue;
        for (const auto& [key, value] : parsed.content.values) {
            if (value.origin.line < 1 || value.origin.line > lines)
                return "a value is from a line of the file";
        }
        ParsedFile again = parse_layer(layer, "again.toml", as_toml(parsed.content));
        if (!again.problems.empty()) return "what was read can be written down and read";
        if (!is_same(parsed.content, again.content)) return "what was written down says the same";
    }
    return nullptr;
}

inline const char* broken_for_profile(std::string_view bytes) {
    base::Result<Profile> profile = parse_profile({"bot", "bot.toml", std::string(bytes)});
    if (!profile) {
        if (!is_one_line(profile.error())) return "a problem is one printable line";
        return profile.error().where.starts_with("bot.toml") ? nullptr : "a problem names its file";
    }
    if (profile->commands.empty() || profile->title.empty()) return "a profile has a command and a title";
    for (const auto* places :
         {&profile->state, &profile->kept, &profile->tokens, &profile->protect, &profile->private_places}) {
        for (const Item& item : *places) {
            base::Path home = base::Path::known("/home/me");
            std::string_view text = item.text;
            if (text.starts_with("~/")) text.remove_prefix(2);
            if (!(home / text).is_strictly_within(home))
                return "an agent's place is below the home directory";
        }
    }
    for (const Item& item : profile->files) {
        if (!item.text.starts_with("~/") && !item.text.starts_with("/etc/"))
            return "an agent's file is in the home directory or in /etc";
        if (item.text.find('=') == std::string::npos) return "an agent's file has a content";
    }
    bool is_left = std::ranges::any_of(profile->layer.values,
                                       [](const auto& entry) { return entry.first.starts_with("agent."); });
    return is_left ? "what is asked of the settings are settings" : nullptr;
}

// Variables, or words, that each end with NUL.
inline std::vector<std::string> words_in(std::string_view bytes) {
    std::vector<std::string> words;
    for (std::string_view word : base::split(bytes, '\0')) words.emplace_back(word);
    return words;
}

inline const char* broken_for_variables(std::string_view bytes) {
    std::vector<std::string> environment = words_in(bytes);
    base::Result<Values> values = read_variables(environment);
    if (!values) return is_one_line(values.error()) ? nullptr : "a problem is one printable line";
    for (const auto& [key, value] : *values) {
        const std::string name = value.origin.name + "=";
        if (!name.starts_with("AGENT_SANDBOX_")) return "a setting comes from a variable of ours";
        if (find_setting(key) == nullptr) return "a variable sets a setting";
        if (std::ranges::none_of(environment,
                                 [&](const std::string& entry) { return entry.starts_with(name); }))
            return "a setting comes from a variable that is there";
    }
    return nullptr;
}

// Which agent a command starts.
inline const char* broken_for_command(std::string_view bytes) {
    std::vector<std::string> words = words_in(bytes), left = without_starters(words);
    if (left.size() > words.size()) return "words are taken off, none is added";
    if (left.size() < 2) return nullptr;
    bool is_end = std::equal(left.rbegin(), left.rend() - 1, words.rbegin());
    if (!is_end) return "what is left is the end of the command";
    return nullptr;
}

}  // namespace config
