// SPDX-License-Identifier: MIT
#include "import/bash_guards.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"

namespace config {
namespace {

constexpr std::string_view kVariable = "_PROJECT_DIR";

// Lines without their comments. A # within quotes is rare; its only effect is that a guard is not understood.
std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines = base::split(text, '\n');
    for (std::string_view& line : lines) {
        std::string_view start = base::trim(line);
        size_t comment = start.starts_with('#') ? 0 : line.find(" #");
        line = line.substr(0, comment);
    }
    return lines;
}

// The script expands the word with eval, so it must be exactly one word.
bool is_one_word(std::string_view word) {
    bool has_more = word.find_first_of(" \t;&|<>()`#\n") != std::string_view::npos;
    return !word.empty() && !has_more && word.find("$(") == std::string_view::npos;
}

class GuardSearch {
  public:
    explicit GuardSearch(std::string_view text) {
        for (std::string_view line : lines_of(text)) text_ += base::format("{}\n", line);
    }

    BashGuards search() {
        for (size_t at = text_.find(kVariable); at != std::string::npos; at = text_.find(kVariable, at)) {
            size_t line = text_.rfind('\n', at);
            line = line == std::string::npos ? 0 : line + 1;
            std::string_view before = std::string_view(text_).substr(line, at - line);
            at += kVariable.size();
            bool is_read = read_case(before, at) || read_test(before, at);
            if (!is_read) guards_.is_understood = false;
        }
        return std::move(guards_);
    }

  private:
    std::string_view rest(size_t at) const { return std::string_view(text_).substr(at); }

    // "} " and quotes that end the variable.
    static std::string_view after_name(std::string_view text) {
        while (!text.empty() && (text.front() == '}' || text.front() == '"')) text.remove_prefix(1);
        return text;
    }

    // [[ "$_PROJECT_DIR" == PATTERN ]], also with != and =, and with || or && between two of them.
    bool read_test(std::string_view before, size_t at) {
        if (before.rfind("[[") == std::string_view::npos) return false;
        std::string_view text = base::trim(after_name(rest(at)));
        bool compares = text.starts_with("== ") || text.starts_with("!= ") || text.starts_with("= ");
        if (!compares) return false;
        text = base::trim(text.substr(text.find(' ')));
        size_t end = std::min({text.find(" ]]"), text.find(" ||"), text.find(" &&"), text.find('\n')});
        return add(text.substr(0, end));
    }

    // case "$_PROJECT_DIR" in PATTERN | PATTERN) … ;; esac
    bool read_case(std::string_view before, size_t at) {
        size_t word = before.rfind("case ");
        bool is_case = word != std::string_view::npos &&
                       before.find_first_not_of("\"${ ", word + 5) == std::string_view::npos;
        if (!is_case) return false;
        std::string_view text = base::trim(after_name(rest(at)));
        size_t end = text.find("esac");
        if (!text.starts_with("in") || end == std::string_view::npos) return false;
        text = base::trim(text.substr(2, end - 2));
        while (!text.empty()) {
            if (text.starts_with('(')) text.remove_prefix(1);
            size_t close = text.find(')');
            if (close == std::string_view::npos) return false;
            for (std::string_view pattern : base::split(text.substr(0, close), '|')) {
                pattern = base::trim(pattern);
                if (pattern != "*" && !add(pattern)) return false;
            }
            size_t next = text.find(";;", close);
            if (next == std::string_view::npos) break;
            text = base::trim(text.substr(next + 2));
        }
        return true;
    }

    bool add(std::string_view pattern) {
        pattern = base::trim(pattern);
        bool is_usable = is_one_word(pattern) && pattern.find('[') == std::string_view::npos;
        if (!is_usable) return false;
        if (std::ranges::find(guards_.patterns, pattern) == guards_.patterns.end())
            guards_.patterns.emplace_back(pattern);
        return true;
    }

    std::string text_;
    BashGuards guards_;
};

}  // namespace

BashGuards find_bash_guards(std::string_view text) {
    return GuardSearch(text).search();
}

std::vector<int> lines_of_assignments(std::string_view text, std::string_view name) {
    std::vector<int> found;
    int number = 0;
    for (std::string_view line : lines_of(text)) {
        ++number;
        bool assigns = false;
        for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
            bool starts = at == 0 || (!base::is_name_character(line[at - 1]) && line[at - 1] != '$');
            std::string_view rest = line.substr(at + name.size());
            bool is_element = rest.starts_with('[') && (rest.find("]=") != std::string_view::npos ||
                                                        rest.find("]+=") != std::string_view::npos);
            bool is_value = rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with(":=");
            assigns = assigns || (starts && (is_value || is_element));
        }
        if (assigns) found.push_back(number);
    }
    return found;
}

bool expands_variable(std::string_view text, std::string_view name) {
    for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        bool is_expanded =
            at > 0 && (text[at - 1] == '$' ||
                       (at > 1 && (text[at - 1] == '{' || text[at - 1] == '#' || text[at - 1] == '!') &&
                        text.rfind("${", at) + 3 >= at));
        size_t end = at + name.size();
        if (is_expanded && (end == text.size() || !base::is_name_character(text[end]))) return true;
    }
    return false;
}

}  // namespace config
