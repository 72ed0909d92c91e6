// SPDX-License-Identifier: MIT
#include "config/bash_text.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"

namespace config {
namespace {

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

// Deeper nesting than any person writes; reading stops there, and the statement swallows the rest.
constexpr int kDeepest = 50;

size_t skip_quoted(std::string_view text, size_t at, int depth = 0);

size_t skip_to(std::string_view text, size_t at, char end) {
    while (at < text.size() && text[at] != end) at += end != '\'' && text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

size_t skip_double_quotes(std::string_view text, size_t at, int depth) {
    ++at;
    while (at < text.size() && text[at] != '"') {
        at = text[at] == '\'' ? at + 1 : skip_quoted(text, at, depth);
    }
    return std::min(at + 1, text.size());
}

struct Brackets {
    char open;
    char close;
};

size_t skip_nested(std::string_view text, size_t at, Brackets brackets, int depth) {
    int open = 0;
    while (at < text.size()) {
        if (text[at] == brackets.open) ++open;
        if (text[at] == brackets.close && --open == 0) return at + 1;
        bool is_bracket = text[at] == brackets.open || text[at] == brackets.close;
        at = is_bracket ? at + 1 : skip_quoted(text, at, depth);
    }
    return at;
}

// Behind the quoted text, substitution or escape that begins at `at`, or at + 1 where none does. An unclosed
// one ends with the text: the statement then swallows the rest, which is left out and shown.
size_t skip_quoted(std::string_view text, size_t at, int depth) {
    if (depth > kDeepest) return text.size();
    char next = at + 1 < text.size() ? text[at + 1] : '\0';
    switch (text[at]) {
        case '\\':
            return std::min(at + 2, text.size());
        case '\'':
            return skip_to(text, at + 1, '\'');
        case '"':
            return skip_double_quotes(text, at, depth + 1);
        case '`':
            return skip_to(text, at + 1, '`');
        case '$':
            if (next == '(') return skip_nested(text, at + 1, {'(', ')'}, depth + 1);
            if (next == '{') return skip_nested(text, at + 1, {'{', '}'}, depth + 1);
            return at + 1;
        default:
            return at + 1;
    }
}

class StatementSplitter {
  public:
    explicit StatementSplitter(std::string_view script) : script_(script) {}

    std::vector<BashStatement> split() {
        while (at_ < script_.size()) step();
        finish();
        return std::move(statements_);
    }

  private:
    void step() {
        char letter = script_[at_];
        bool starts_word = current_.empty() || is_blank(current_.back()) || current_.back() == '(';
        if (letter == '#' && starts_word) {
            at_ = std::min(script_.find('\n', at_), script_.size());
        } else if (letter == '\\' && at_ + 1 < script_.size() && script_[at_ + 1] == '\n') {
            take_silently(at_ + 2);
        } else if (letter == '\n') {
            if (depth_ == 0) finish();
            take(at_ + 1);
            skip_here_documents();
        } else if (letter == ';' && depth_ == 0) {
            finish();
            take_silently(at_ + 1);
        } else if (script_.substr(at_).starts_with("<<") && !script_.substr(at_).starts_with("<<<")) {
            note_here_document();
        } else {
            if (letter == '(') ++depth_;
            // The patterns of a case statement close what nothing opened.
            if (letter == ')' && depth_ > 0) --depth_;
            take(skip_quoted(script_, at_));
        }
    }

    void take(size_t end) {
        if (current_.empty()) start_line_ = line_;
        bool is_leading_blank = current_.empty() && is_blank(script_[at_]);
        if (!is_leading_blank) current_ += script_.substr(at_, end - at_);
        take_silently(end);
    }

    void take_silently(size_t end) {
        line_ += static_cast<int>(std::count(script_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             script_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end;
    }

    void finish() {
        std::string_view text = base::trim(current_);
        if (!text.empty()) statements_.push_back({start_line_, std::string(text)});
        current_.clear();
        depth_ = 0;
    }

    void note_here_document() {
        size_t at = at_ + 2;
        while (at < script_.size() && (script_[at] == '-' || script_[at] == ' ')) ++at;
        std::string delimiter;
        for (; at < script_.size() && !is_blank(script_[at]) && script_[at] != ';'; ++at) {
            if (script_[at] != '\'' && script_[at] != '"' && script_[at] != '\\') delimiter += script_[at];
        }
        if (!delimiter.empty()) here_documents_.push_back(delimiter);
        take(at);
    }

    void skip_here_documents() {
        for (const std::string& delimiter : here_documents_) {
            while (at_ < script_.size()) {
                size_t end = std::min(script_.find('\n', at_), script_.size());
                bool is_end = base::trim(script_.substr(at_, end - at_)) == delimiter;
                take_silently(std::min(end + 1, script_.size()));
                if (is_end) break;
            }
        }
        here_documents_.clear();
    }

    std::string_view script_;
    size_t at_ = 0;
    int line_ = 1;
    int start_line_ = 1;
    int depth_ = 0;  // of parentheses: an array literal is one statement
    std::string current_;
    std::vector<std::string> here_documents_;
    std::vector<BashStatement> statements_;
};

bool contains(std::span<const std::string_view> words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

// ---- Words
// ----------------------------------------------------------------------------------------------------------

class WordReader {
  public:
    WordReader(std::string_view text, size_t at, const Lookup& lookup)
        : text_(text), at_(at), lookup_(lookup) {}

    BashWord read(size_t& end) {
        size_t start = at_;
        while (at_ < text_.size() && !ends_word(text_[at_])) step();
        word_.raw = text_.substr(start, at_ - start);
        end = at_;
        return std::move(word_);
    }

  private:
    static bool ends_word(char letter) {
        return is_blank(letter) || letter == ')' || letter == ';' || letter == '&' || letter == '|' ||
               letter == '(';
    }

    void step() {
        char letter = text_[at_];
        if (letter == '\'') {
            size_t end = skip_to(text_, at_ + 1, '\'');
            add_quoted(text_.substr(at_ + 1, end - at_ - 2));
            at_ = end;
        } else if (letter == '"') {
            read_double_quotes();
        } else if (letter == '\\' && at_ + 1 < text_.size()) {
            add_quoted(text_.substr(at_ + 1, 1));
            at_ += 2;
        } else if (letter == '$') {
            read_expansion();
        } else if (letter == '`') {
            add_trouble("the output of a command is known only when it runs");
            at_ = skip_quoted(text_, at_);
        } else if (letter == '{') {
            add_trouble("{a,b} is not expanded; write one entry for each");
            ++at_;
        } else {
            word_.text += letter;
            ++at_;
        }
    }

    void add_trouble(std::string reason) {
        if (word_.trouble.empty()) word_.trouble = std::move(reason);
    }

    void add_quoted(std::string_view text) {
        if (text.find_first_of("*?[") != std::string_view::npos) word_.has_quoted_wildcard = true;
        word_.text += text;
    }

    void read_double_quotes() {
        constexpr std::string_view kEscapable = "$`\"\\";
        ++at_;
        while (at_ < text_.size() && text_[at_] != '"') {
            char letter = text_[at_];
            bool is_escape = letter == '\\' && at_ + 1 < text_.size() &&
                             kEscapable.find(text_[at_ + 1]) != std::string_view::npos;
            if (is_escape) {
                add_quoted(text_.substr(at_ + 1, 1));
                at_ += 2;
            } else if (letter == '$') {
                read_expansion();
            } else if (letter == '`') {
                add_trouble("the output of a command is known only when it runs");
                at_ = skip_quoted(text_, at_);
            } else {
                add_quoted(text_.substr(at_, 1));
                ++at_;
            }
        }
        ++at_;
    }

    void read_expansion() {
        size_t end = skip_quoted(text_, at_);
        char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (next == '(') {
            add_trouble("the output of a command is known only when it runs");
        } else if (next == '{') {
            std::string_view inside = text_.substr(at_ + 2, end - at_ - 3);
            if (!inside.empty() && std::ranges::all_of(inside, is_bash_name_part)) {
                put_in(std::string(inside));
            } else {
                add_trouble("'" + std::string(text_.substr(at_, end - at_)) +
                            "' depends on the shell that reads it");
            }
        } else if (is_bash_name_start(next)) {
            end = at_ + 1;
            while (end < text_.size() && is_bash_name_part(text_[end])) ++end;
            put_in(std::string(text_.substr(at_ + 1, end - at_ - 1)));
        } else if (next == '\'') {
            add_trouble("$'…' is not read; write the characters themselves");
            end = skip_to(text_, at_ + 2, '\'');
        } else if (next != '"') {
            word_.text += '$';
        }
        at_ = end;
    }

    void put_in(const std::string& name) {
        std::optional<std::vector<std::string>> values = lookup_(name);
        if (!values) return add_trouble("$" + name + " gets its value outside this file");
        std::string value = values->empty() ? std::string() : values->front();
        if (value.starts_with('~') && !word_.text.empty()) {
            return add_trouble("the home directory stands in the middle");
        }
        word_.text += value;
    }

    std::string_view text_;
    size_t at_;
    const Lookup& lookup_;
    BashWord word_;
};

// NAME of a word that is exactly "${NAME[@]}", quoted or not.
std::string spliced_array(std::string_view raw) {
    if (raw.starts_with('"') && raw.ends_with('"') && raw.size() > 1) raw = raw.substr(1, raw.size() - 2);
    if (!raw.starts_with("${") || !(raw.ends_with("[@]}") || raw.ends_with("[*]}"))) return {};
    std::string_view name = raw.substr(2, raw.size() - 6);
    return std::ranges::all_of(name, is_bash_name_part) ? std::string(name) : std::string();
}

}  // namespace

bool is_bash_name_start(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}
bool is_bash_name_part(char letter) {
    return is_bash_name_start(letter) || (letter >= '0' && letter <= '9');
}

std::vector<BashStatement> split_statements(std::string_view script) {
    return StatementSplitter(script).split();
}

std::vector<std::string> split_raw_words(std::string_view statement) {
    std::vector<std::string> words;
    for (size_t at = 0; at < statement.size();) {
        if (is_blank(statement[at])) {
            ++at;
            continue;
        }
        size_t start = at;
        while (at < statement.size() && !is_blank(statement[at])) at = skip_quoted(statement, at);
        words.emplace_back(statement.substr(start, at - start));
    }
    return words;
}

int compound_depth_change(std::string_view statement) {
    static constexpr std::array<std::string_view, 7> kOpen = {"if",    "case",   "for", "while",
                                                              "until", "select", "{"};
    static constexpr std::array<std::string_view, 4> kClose = {"fi", "esac", "done", "}"};
    static constexpr std::array<std::string_view, 9> kCommandFollows = {"then", "do", "else", "elif", "!",
                                                                        "&&",   "||", "|",    "{"};
    int change = 0;
    bool is_command = true;
    std::string previous;
    for (const std::string& word : split_raw_words(statement)) {
        bool opens_body = word.ends_with("(){");
        if (is_command && (contains(kOpen, word) || opens_body)) ++change;
        if (is_command && contains(kClose, word)) --change;
        is_command =
            contains(kCommandFollows, word) || word.ends_with("()") || opens_body || previous == "function";
        previous = word;
    }
    return change;
}

BashWord read_word(std::string_view text, size_t& at, const Lookup& lookup) {
    return WordReader(text, at, lookup).read(at);
}

std::optional<std::vector<BashWord>> read_array(std::string_view text, size_t& at, int line,
                                                const Lookup& lookup) {
    std::vector<BashWord> words;
    ++at;
    while (at < text.size()) {
        if (text[at] == '\n') ++line;
        if (is_blank(text[at])) {
            ++at;
            continue;
        }
        if (text[at] == ')') {
            ++at;
            return words;
        }
        size_t start = at;
        BashWord word = read_word(text, at, lookup);
        if (at == start) return std::nullopt;
        word.line = line;
        line += static_cast<int>(std::ranges::count(word.raw, '\n'));
        if (std::string name = spliced_array(word.raw); !name.empty()) {
            if (std::optional<std::vector<std::string>> values = lookup(name)) {
                for (std::string& value : *values)
                    words.push_back({word.line, word.raw, std::move(value), {}, false});
                continue;
            }
        }
        words.push_back(std::move(word));
    }
    return std::nullopt;
}

}  // namespace config
