// SPDX-License-Identifier: MIT
#include "layers/ignored.h"

#include <algorithm>
#include <ranges>

#include "base/parse.h"
#include "base/text.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr size_t kBudget = 50'000'000;  // for all files of a layer: a second or two at most

// As in git: why a pattern does not match decides which "*" before it may try again.
enum class Match { yes, no, end_of_path, next_slash };

constexpr char kNothing = '\0';

// Nothing: a class of this name does not exist.
std::optional<bool> is_in_class(std::string_view name, char letter) {
    struct Row {
        std::string_view name;
        bool (*is_in)(char);
    };
    static constexpr Row kRows[] = {
        {"alpha", [](char c) { return base::is_letter(c); }},
        {"digit", [](char c) { return base::is_digit(c); }},
        {"alnum", [](char c) { return base::is_letter(c) || base::is_digit(c); }},
        {"lower", [](char c) { return c >= 'a' && c <= 'z'; }},
        {"upper", [](char c) { return c >= 'A' && c <= 'Z'; }},
        {"space", [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }},
        {"blank", [](char c) { return c == ' ' || c == '\t'; }},
        {"cntrl", [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }},
        {"print", [](char c) { return c >= ' ' && c < '\x7f'; }},
        {"graph", [](char c) { return c > ' ' && c < '\x7f'; }},
        {"punct", [](char c) { return c > ' ' && c < '\x7f' && !base::is_letter(c) && !base::is_digit(c); }},
        {"xdigit",
         [](char c) { return base::is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }},
    };
    const Row* row = std::ranges::find(kRows, name, &Row::name);
    return row != std::end(kRows) ? std::optional(row->is_in(letter)) : std::nullopt;
}

class Pattern {
  public:
    Pattern(std::string_view pattern, std::string_view path, size_t& budget)
        : pattern_(pattern), path_(path), budget_(budget) {}

    bool matches() { return match(0, 0) == Match::yes; }

  private:
    char pattern_at(size_t at) const { return at < pattern_.size() ? pattern_[at] : kNothing; }
    char path_at(size_t at) const { return at < path_.size() ? path_[at] : kNothing; }

    Match match(size_t p, size_t t) {
        for (; p < pattern_.size(); ++p, ++t) {
            if (budget_ == 0) return Match::end_of_path;
            --budget_;
            const char letter = pattern_[p];
            if (t >= path_.size() && letter != '*') return Match::end_of_path;
            switch (letter) {
                case '\\':
                    if (p + 1 >= pattern_.size()) return Match::no;
                    ++p;
                    if (pattern_[p] != path_[t]) return Match::no;
                    continue;
                case '?':
                    if (path_[t] == '/') return Match::no;
                    continue;
                case '*':
                    return match_star(p, t);
                case '[': {
                    bool is_complete = true;
                    const bool is_in = match_bracket(p, path_[t], is_complete);
                    if (!is_complete) return Match::end_of_path;
                    if (!is_in || path_[t] == '/') return Match::no;
                    continue;
                }
                default:
                    if (letter != path_[t]) return Match::no;
            }
        }
        return t == path_.size() ? Match::yes : Match::no;
    }

    Match match_star(size_t p, size_t t) {
        const size_t star = p;
        bool crosses_slash = false;
        if (pattern_at(++p) == '*') {
            while (pattern_at(++p) == '*') continue;
            bool begins_name = star == 0 || pattern_[star - 1] == '/';
            bool ends_name = p >= pattern_.size() || pattern_[p] == '/' ||
                             (pattern_[p] == '\\' && pattern_at(p + 1) == '/');
            if (begins_name && ends_name) {
                // "**/" may also stand for no directory.
                if (pattern_at(p) == '/' && match(p + 1, t) == Match::yes) return Match::yes;
                crosses_slash = true;
            }
        }
        if (p >= pattern_.size())
            return crosses_slash || path_.find('/', t) == std::string_view::npos ? Match::yes
                                                                                 : Match::next_slash;
        if (!crosses_slash && pattern_[p] == '/') {
            const size_t slash = path_.find('/', t);
            return slash == std::string_view::npos ? Match::end_of_path : match(p + 1, slash + 1);
        }
        for (; t < path_.size(); ++t) {
            const Match matched = match(p, t);
            if (matched != Match::no) {
                if (!crosses_slash || matched != Match::next_slash) return matched;
            } else if (!crosses_slash && path_[t] == '/') {
                return Match::next_slash;
            }
        }
        return Match::end_of_path;
    }

    // `p` is at "[", afterwards at "]".
    bool match_bracket(size_t& p, char letter, bool& is_complete) const {
        ++p;
        const bool is_negated = pattern_at(p) == '!' || pattern_at(p) == '^';
        if (is_negated) ++p;
        bool is_in = false;
        std::string_view last;  // the letter before; empty: a range can't begin with it
        for (bool is_first = true;; is_first = false, ++p) {
            if (p >= pattern_.size()) {
                is_complete = false;
                return false;
            }
            char one = pattern_[p];
            if (one == ']' && !is_first) break;
            if (one == '\\') {
                if (++p >= pattern_.size()) continue;
                one = pattern_[p];
                is_in = is_in || one == letter;
                last = pattern_.substr(p, 1);
            } else if (one == '-' && !last.empty() && p + 1 < pattern_.size() && pattern_[p + 1] != ']') {
                ++p;
                if (pattern_[p] == '\\' && p + 1 < pattern_.size()) ++p;
                const auto value = static_cast<unsigned char>(letter);
                is_in = is_in || (value >= static_cast<unsigned char>(last.front()) &&
                                  value <= static_cast<unsigned char>(pattern_[p]));
                last = {};
            } else if (one == '[' && pattern_at(p + 1) == ':') {
                const size_t end = pattern_.find(']', p + 2);
                bool is_class = end != std::string_view::npos && end > p + 2 && pattern_[end - 1] == ':';
                if (end == std::string_view::npos) {
                    is_complete = false;
                    return false;
                }
                if (!is_class) {
                    // A "[" of the set itself.
                    is_in = is_in || letter == '[';
                    last = "[";
                    continue;
                }
                const std::optional<bool> found = is_in_class(pattern_.substr(p + 2, end - p - 3), letter);
                is_complete = found.has_value();
                if (!found) return false;
                is_in = is_in || *found;
                p = end;
                last = {};
            } else {
                is_in = is_in || one == letter;
                last = pattern_.substr(p, 1);
            }
        }
        return is_in != is_negated;
    }

    std::string_view pattern_, path_;
    size_t& budget_;
};

// Blanks at the end count only after a backslash.
std::string_view without_blanks(std::string_view line) {
    size_t end = 0;
    for (size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\') {
            ++i;
            end = std::min(i + 1, line.size());
        } else if (line[i] != ' ') {
            end = i + 1;
        }
    }
    return line.substr(0, end);
}

}  // namespace

std::vector<IgnoreRule> parse_ignore_rules(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of a text in UTF-8
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::vector<IgnoreRule> rules;
    for (std::string_view line : base::split(text, '\n')) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.starts_with('#')) continue;
        line = without_blanks(line);
        IgnoreRule rule;
        rule.is_negated = line.starts_with('!');
        if (rule.is_negated) line.remove_prefix(1);
        rule.is_for_directories = line.ends_with('/');
        if (rule.is_for_directories) line.remove_suffix(1);
        rule.is_for_names = line.find('/') == std::string_view::npos;
        if (line.starts_with('/')) line.remove_prefix(1);
        if (line.empty()) continue;
        rule.pattern = line;
        rules.push_back(std::move(rule));
    }
    return rules;
}

bool matches_pattern(std::string_view pattern, std::string_view path, size_t& budget) {
    return Pattern(pattern, path, budget).matches();
}

IgnoredFiles::IgnoredFiles(Reader read, std::string_view excluded, std::set<std::string> tracked)
    : read_(std::move(read)),
      excluded_(parse_ignore_rules(excluded)),
      tracked_(std::move(tracked)),
      budget_(kBudget) {}

bool IgnoredFiles::is_tracked(const std::string& path) const {
    if (tracked_.contains(path)) return true;
    auto below = tracked_.lower_bound(path + "/");
    return below != tracked_.end() && is_within(*below, path);
}

const std::vector<IgnoreRule>& IgnoredFiles::rules_in(const std::string& directory) {
    auto [known, is_new] = rules_.try_emplace(directory);
    if (is_new) known->second = parse_ignore_rules(read_(join(directory, ".gitignore")).value_or(""));
    return known->second;
}

// Of the last rule that matches; nothing: none does.
std::optional<bool> IgnoredFiles::verdict(const std::vector<IgnoreRule>& rules, std::string_view path,
                                          bool is_directory) {
    for (const IgnoreRule& rule : std::views::reverse(rules)) {
        if (rule.is_for_directories && !is_directory) continue;
        const std::string_view compared = rule.is_for_names ? base::base_name(path) : path;
        if (matches_pattern(rule.pattern, compared, budget_)) return !rule.is_negated;
    }
    return std::nullopt;
}

// The rules of the nearest directory come first.
bool IgnoredFiles::is_matched(const std::string& path, bool is_directory) {
    std::string directory = path;
    do {
        directory = parent_of(directory);
        const std::string_view below =
            std::string_view(path).substr(directory.empty() ? 0 : directory.size() + 1);
        if (std::optional<bool> found = verdict(rules_in(directory), below, is_directory)) return *found;
    } while (!directory.empty());
    return verdict(excluded_, path, is_directory).value_or(false);
}

bool IgnoredFiles::is_ignored(const std::string& path, bool is_directory) {
    if (path.empty() || is_tracked(path)) return false;
    // Below an ignored directory no rule brings a file back.
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const std::string directory = path.substr(0, slash);
        auto [known, is_new] = directories_.try_emplace(directory, false);
        if (is_new) known->second = is_matched(directory, true);
        if (known->second) return true;
    }
    return is_matched(path, is_directory);
}

}  // namespace layers
