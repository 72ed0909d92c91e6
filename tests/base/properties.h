// SPDX-License-Identifier: MIT
// Properties of base's small parsers for any input. Each function returns the claim that these bytes break,
// or null.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/base64.h"
#include "base/encoding/json.h"
#include "base/path.h"

namespace base {

inline const char* broken_for_base64(std::string_view bytes) {
    if (from_base64(to_base64(bytes)) != bytes) return "bytes are the same after a journey as letters";
    std::optional<std::string> decoded = from_base64(bytes);
    return !decoded || to_base64(*decoded) == bytes ? nullptr : "one text alone stands for some bytes";
}

inline const char* broken_for_json(std::string_view bytes) {
    Result<Json> parsed = Json::parse(bytes);
    if (!parsed) return parsed.error().what.empty() ? "an error says what is wrong" : nullptr;
    std::string line = parsed->dump(-1);
    bool has_control =
        std::ranges::any_of(line, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; });
    if (has_control) return "one line has no control character";
    for (int indent : {-1, 2}) {
        Result<Json> again = Json::parse(parsed->dump(indent));
        if (!again) return "what is printed can be read";
        if (again->dump(-1) != line) return "what is printed reads as the same";
    }
    return nullptr;
}

inline const char* broken_for_path(std::string_view bytes) {
    Result<Path> parsed = Path::parse(bytes);
    if (!parsed) return nullptr;
    const std::string& text = parsed->str();
    if (!text.starts_with('/') || (text.size() > 1 && text.ends_with('/')))
        return "a path is absolute and has no slash at its end";
    Path joined;
    for (std::string_view component : parsed->components()) {
        if (component.empty() || component == "." || component == ".." ||
            component.find('/') != component.npos)
            return "a component is a name";
        joined = joined / component;
    }
    if (joined != *parsed || parsed->depth() != parsed->components().size())
        return "a path is its components";
    if (Path::parse(text).value() != *parsed) return "a path reads as itself";
    if (!parsed->is_within(parsed->parent())) return "a path is within its parent";
    if (!parsed->is_root() && parsed->parent() / parsed->name() != *parsed)
        return "a path is its parent and its name";
    const Path home = Path::known("/home/me");
    if (parsed->is_within(home) && home / parsed->relative_to(home) != *parsed)
        return "what follows the ancestor leads back";
    Path below = home / bytes;
    return Path::parse(below.str()).value() == below ? nullptr : "what is appended makes a path";
}

// The definition in path.h, implemented directly; slow.
inline bool matches_path_slowly(std::string_view pattern, std::string_view path, bool starts_component) {
    if (pattern.empty()) return path.empty();
    if (starts_component && pattern.starts_with("**/")) {
        for (size_t end = 0;;) {
            if (matches_path_slowly(pattern.substr(3), path.substr(end), true)) return true;
            end = path.find('/', end);
            if (end++ == path.npos) return false;
        }
    }
    if (pattern.starts_with("*")) {
        bool crosses = pattern.starts_with("**");
        for (size_t end = 0; end <= path.size(); ++end) {
            if (matches_path_slowly(pattern.substr(crosses ? 2 : 1), path.substr(end), false)) return true;
            if (end < path.size() && path[end] == '/' && !crosses) return false;
        }
        return false;
    }
    if (path.empty() || (pattern[0] == '?' ? path[0] == '/' : pattern[0] != path[0])) return false;
    return matches_path_slowly(pattern.substr(1), path.substr(1), pattern[0] == '/');
}

inline bool matches_name_slowly(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) return name.empty();
    if (pattern[0] == '*')
        return matches_name_slowly(pattern.substr(1), name) ||
               (!name.empty() && matches_name_slowly(pattern, name.substr(1)));
    return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
           matches_name_slowly(pattern.substr(1), name.substr(1));
}

// The input is a pattern, a line break, and the text to match.
inline const char* broken_for_glob(std::string_view bytes) {
    size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view pattern = bytes.substr(0, end), text = bytes.substr(std::min(end + 1, bytes.size()));
    bool as_path = matches_path(pattern, text), as_name = matches_name(pattern, text);
    if (as_name && !matches_name(pattern, text, true))
        return "what matches, matches also without regard to case";
    if (!has_wildcard(pattern) && as_path != (pattern == text))
        return "without a wildcard a pattern matches itself alone";
    // The slow way takes exponential time; the real one must not.
    if (std::ranges::count(pattern, '*') > 6 || text.size() > 40) return nullptr;
    if (as_name != matches_name_slowly(pattern, text)) return "a name matches as it is written down";
    bool expected = matches_path_slowly(pattern, text, true);
    for (std::string_view rest = pattern; !expected && rest.ends_with("/**");) {
        rest.remove_suffix(3);
        expected = matches_path_slowly(rest, text, true);
    }
    return as_path == expected ? nullptr : "a path matches as it is written down";
}

}  // namespace base
