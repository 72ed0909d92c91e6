// SPDX-License-Identifier: MIT
#include "base/glob.h"

#include "base/parse.h"

namespace base {

// Iterative with one backtracking point: linear in practice and never exponential, whatever the pattern.
bool matches_name(std::string_view pattern, std::string_view name, bool ignore_case) {
    if (!pattern.empty() && !name.empty() && !ignore_case) {
        // The last letter excludes most patterns.
        char last = pattern.back();
        if (last != '*' && last != '?' && last != name.back()) return false;
    }
    size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n] ||
                                          (ignore_case && lower(pattern[p]) == lower(name[n])))) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

namespace {

// Backtracking point of a `**`: retry with a longer match.
struct Globe {
    size_t pattern = std::string_view::npos;  // the part after it
    size_t path = 0;                          // the end of its match so far
    bool is_whole = false;                    // "**/": the match must end after a slash

    bool is_set() const { return pattern != std::string_view::npos; }
    bool advance(std::string_view text) {
        if (!is_whole) return ++path <= text.size();
        size_t slash = text.find('/', path);
        path = slash + 1;
        return slash != std::string_view::npos;
    }
};

Globe meet_globe(std::string_view pattern, size_t at, size_t path) {
    bool starts_component = at == 0 || pattern[at - 1] == '/';
    bool is_whole = starts_component && pattern.substr(at).starts_with("**/");
    return {.pattern = at + (is_whole ? 3u : 2u), .path = path, .is_whole = is_whole};
}

}  // namespace

// Only the last single star and the last double star need backtracking: they can match everything that an
// earlier one could.
bool matches_path(std::string_view pattern, std::string_view path) {
    if (pattern.ends_with("/**") && matches_path(pattern.substr(0, pattern.size() - 3), path)) return true;
    size_t p = 0, n = 0;
    size_t star = std::string_view::npos, star_resume = 0;
    Globe globe;
    for (;;) {
        bool is_at_end = n == path.size();
        if (p == pattern.size() && is_at_end) return true;
        if (pattern.substr(p).starts_with("**")) {
            globe = meet_globe(pattern, p, n);
            p = globe.pattern;
            star = std::string_view::npos;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_resume = n;
        } else if (p < pattern.size() && !is_at_end &&
                   (pattern[p] == path[n] || (pattern[p] == '?' && path[n] != '/'))) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos && star_resume < path.size() && path[star_resume] != '/') {
            p = star + 1;
            n = ++star_resume;
        } else if (globe.is_set() && globe.advance(path)) {
            p = globe.pattern;
            n = globe.path;
            star = std::string_view::npos;
        } else {
            return false;
        }
    }
}

bool has_wildcard(std::string_view text) {
    return text.find_first_of("*?") != std::string_view::npos;
}

}  // namespace base
