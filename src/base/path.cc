// SPDX-License-Identifier: MIT
#include "base/path.h"

#include <algorithm>
#include <cstdlib>

#include "base/parse.h"

namespace base {
namespace {

// Appends the components of `relative` to the normalised `base`; false when ".." leads above the root.
bool append_components(std::string& base, std::string_view relative) {
    bool stayed_below_root = true;
    while (!relative.empty()) {
        size_t slash = relative.find('/');
        std::string_view component = relative.substr(0, slash);
        relative = slash == std::string_view::npos ? std::string_view{} : relative.substr(slash + 1);
        if (component.empty() || component == ".") continue;
        if (component == "..") {
            if (base.size() <= 1) stayed_below_root = false;
            size_t last = base.rfind('/');
            base.resize(last == 0 ? 1 : last);
            continue;
        }
        if (base.size() > 1) base += '/';
        base += component;
    }
    return stayed_below_root;
}

}  // namespace

Result<Path> Path::parse(std::string_view text) {
    if (text.empty() || text.front() != '/') {
        return Error{.what = "'" + std::string(text) + "' is not an absolute path",
                     .advice = "write it from / or from ~"};
    }
    if (text.find('\0') != std::string_view::npos) {
        return Error{.what = "a path holds a NUL byte", .advice = "remove it"};
    }
    std::string normal = "/";
    if (!append_components(normal, text)) {
        return Error{.what = "'" + std::string(text) + "' climbs above /", .advice = "remove the extra '..'"};
    }
    return Path(std::move(normal));
}

Path Path::known(std::string_view text) {
    Result<Path> path = parse(text);
    if (!path) std::abort();
    return *std::move(path);
}

Path Path::parent() const {
    size_t last = text_.rfind('/');
    return Path(last == 0 ? "/" : text_.substr(0, last));
}

std::string_view Path::name() const {
    return std::string_view(text_).substr(text_.rfind('/') + 1);
}

std::vector<std::string_view> Path::components() const {
    std::vector<std::string_view> parts;
    std::string_view rest = std::string_view(text_).substr(1);
    while (!rest.empty()) {
        size_t slash = rest.find('/');
        parts.push_back(rest.substr(0, slash));
        rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    }
    return parts;
}

size_t Path::depth() const {
    return is_root() ? 0 : static_cast<size_t>(std::count(text_.begin(), text_.end(), '/'));
}

Path Path::operator/(std::string_view relative) const {
    std::string joined = text_;
    append_components(joined, relative);
    return Path(std::move(joined));
}

bool Path::is_within(const Path& ancestor) const {
    if (ancestor.is_root()) return true;
    if (!text_.starts_with(ancestor.text_)) return false;
    return text_.size() == ancestor.text_.size() || text_[ancestor.text_.size()] == '/';
}

std::string_view Path::relative_to(const Path& ancestor) const {
    if (*this == ancestor) return {};
    return std::string_view(text_).substr(ancestor.is_root() ? 1 : ancestor.text_.size() + 1);
}

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

// A loop of its own: a launch asks about hundreds of short names, and find_first_of() makes a call for each
// byte.
bool has_wildcard(std::string_view text) {
    for (char c : text) {
        if (c == '*' || c == '?') return true;
    }
    return false;
}

}  // namespace base
