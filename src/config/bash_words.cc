// SPDX-License-Identifier: MIT
#include "config/bash_words.h"

#include <algorithm>

#include "base/text.h"
#include "config/bash_ansi.h"
#include "config/bash_quotes.h"

namespace config {
namespace {

constexpr std::string_view kCommand = "the output of a command is known only when it runs";

constexpr std::string_view kBraces = "these braces are not expanded here; write one entry for each";

class WordReader {
  public:
    WordReader(std::string_view text, size_t at, const Lookup& lookup, int depth = 0)
        : text_(text), at_(at), lookup_(lookup), depth_(depth) {}

    BashWord read(size_t& end) {
        size_t start = at_;
        while (at_ < text_.size() && !ends_word(text_[at_])) step();
        end = std::min(at_, text_.size());
        word_.raw = text_.substr(start, end - start);
        return std::move(word_);
    }

    BashWord read_all() {
        while (at_ < text_.size()) step();
        word_.raw = text_;
        return std::move(word_);
    }

  private:
    static bool ends_word(char letter) {
        return is_bash_blank(letter) || letter == ')' || letter == ';' || letter == '&' || letter == '|' ||
               letter == '(';
    }

    void step() {
        char letter = text_[at_];
        if (letter == '\'') {
            size_t end = skip_bash_to(text_, at_ + 1, '\'');
            std::string_view quoted = text_.substr(at_, end - at_);
            note_unclosed(quoted);
            add_quoted(quoted.substr(1, quoted.size() - (is_closed_bash(quoted) ? 2 : 1)));
            at_ = end;
        } else if (letter == '"') {
            read_double_quotes();
        } else if (letter == '\\' && at_ + 1 < text_.size()) {
            add_quoted(text_.substr(at_ + 1, 1));
            at_ += 2;
        } else if (letter == '$') {
            read_expansion(false);
        } else if (letter == '`') {
            add_trouble(kCommand);
            at_ = skip_bash_quoted(text_, at_);
        } else if (letter == '{') {
            add_trouble(kBraces);
            ++at_;
        } else {
            append(text_.substr(at_, 1));
            ++at_;
        }
    }

    void append(std::string_view text) {
        if (word_.text.size() + text.size() > kLongestBashWord) return add_trouble(kTooLarge);
        word_.text += text;
    }

    void add_trouble(std::string_view reason) {
        if (word_.trouble.empty()) word_.trouble = reason;
    }

    void note_unclosed(std::string_view quoted) {
        if (!is_closed_bash(quoted)) add_trouble("the quote is never closed");
    }

    void add_quoted(std::string_view text) {
        if (text.find_first_of("*?[") != std::string_view::npos) word_.has_quoted_wildcard = true;
        append(text);
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
                read_expansion(true);
            } else if (letter == '`') {
                add_trouble(kCommand);
                at_ = skip_bash_quoted(text_, at_);
            } else {
                add_quoted(text_.substr(at_, 1));
                ++at_;
            }
        }
        if (at_ >= text_.size()) note_unclosed("\"");
        ++at_;
    }

    void read_expansion(bool is_quoted) {
        char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        bool is_plain = is_quoted && (next == '\'' || next == '"');
        size_t end = is_plain ? at_ + 1 : skip_bash_quoted(text_, at_);
        std::string_view whole = text_.substr(at_, end - at_);
        if (whole.starts_with("$((")) {
            add_trouble("arithmetic is not done here; write the number");
        } else if (next == '(') {
            add_trouble(kCommand);
        } else if (next == '{') {
            read_parameter(whole);
        } else if (is_bash_name_start(next)) {
            end = at_ + 1;
            while (end < text_.size() && is_bash_name_part(text_[end])) ++end;
            put_in(std::string(text_.substr(at_ + 1, end - at_ - 1)));
        } else if (next == '\'' && !is_quoted) {
            note_unclosed(whole);
            if (word_.trouble.empty()) add_quoted(decode_ansi_quoted(whole.substr(2, whole.size() - 3)));
        } else if (next != '"' || is_quoted) {
            append("$");
        }
        at_ = end;
    }

    // ${NAME}, and of its modifications those that are habits of such files: a default, and a slash cut off.
    void read_parameter(std::string_view whole) {
        std::string_view inside = whole.substr(2, whole.size() - std::min<size_t>(whole.size(), 3));
        size_t name_end = 0;
        while (name_end < inside.size() && is_bash_name_part(inside[name_end])) ++name_end;
        std::string name(inside.substr(0, name_end));
        std::string_view rest = inside.substr(name_end);
        bool is_readable = !name.empty() && is_closed_bash(whole);
        if (is_readable && (rest.empty() || rest == "%/" || rest == "%%/")) {
            put_in(name, !rest.empty());
        } else if (is_readable && (rest.starts_with(":?") || rest.starts_with('?'))) {
            put_in(name);
        } else if (size_t length = default_operator(rest); is_readable && length > 0) {
            put_in_or(name, rest.substr(length));
        } else {
            add_trouble("'" + base::printable(whole) + "' depends on the shell that reads it");
        }
    }

    static size_t default_operator(std::string_view rest) {
        if (rest.starts_with(":-") || rest.starts_with(":=")) return 2;
        return rest.starts_with('-') || rest.starts_with('=') ? 1 : 0;
    }

    void put_in_or(const std::string& name, std::string_view otherwise) {
        std::optional<std::vector<std::string>> values = lookup_(name);
        if (!values) {
            return add_trouble("$" + name + " gets its value outside this file; without one it would be '" +
                               base::printable(otherwise) + "'");
        }
        if (!values->empty() && !values->front().empty()) return add_value(values->front());
        if (depth_ >= kDeepestBash) return add_trouble("it is nested too deeply");
        BashWord word = WordReader(otherwise, 0, lookup_, depth_ + 1).read_all();
        if (!word.trouble.empty()) return add_trouble(word.trouble);
        add_value(word.text);
    }

    void put_in(const std::string& name, bool drops_slash = false) {
        std::optional<std::vector<std::string>> values = lookup_(name);
        if (!values) return add_trouble("$" + name + " gets its value outside this file");
        std::string value = values->empty() ? std::string() : values->front();
        if (drops_slash && value.ends_with('/')) value.pop_back();
        add_value(value);
    }

    void add_value(const std::string& value) {
        if (value.starts_with('~') && !word_.text.empty()) {
            return add_trouble("the home directory stands in the middle");
        }
        append(value);
    }

    std::string_view text_;
    size_t at_;
    const Lookup& lookup_;
    int depth_;
    BashWord word_;
};

// NAME of a word that is exactly "${NAME[@]}", quoted or not; also the "${NAME[@]:-}" that
// old shells need for empty arrays.
std::string spliced_array(std::string_view raw) {
    if (raw.starts_with('"') && raw.ends_with('"') && raw.size() > 1) raw = raw.substr(1, raw.size() - 2);
    if (!raw.starts_with("${") || !raw.ends_with('}')) return {};
    std::string_view inside = raw.substr(2, raw.size() - 3);
    if (inside.ends_with(":-")) inside.remove_suffix(2);
    if (!inside.ends_with("[@]") && !inside.ends_with("[*]")) return {};
    std::string_view name = inside.substr(0, inside.size() - 3);
    return std::ranges::all_of(name, is_bash_name_part) ? std::string(name) : std::string();
}

// More than that nobody writes, and a word must not grow beyond measure.
constexpr size_t kMostAlternatives = 64;

// a{b,c}d as abd and acd, the first braces first; the word itself where it has none, or others than a plain
// list.
std::vector<std::string> expand_braces(const std::string& raw) {
    size_t open = 0;
    while (open < raw.size() && raw[open] != '{') open = skip_bash_quoted(raw, open);
    size_t close = open < raw.size() ? raw.find('}', open) : std::string::npos;
    if (close == std::string::npos) return {raw};
    std::string_view inside = std::string_view(raw).substr(open + 1, close - open - 1);
    bool is_plain = inside.find_first_of("{\"'\\$`") == std::string_view::npos;
    std::vector<std::string_view> parts = base::split(inside, ',');
    if (!is_plain || parts.size() < 2) return {raw};
    std::vector<std::string> words;
    for (std::string_view part : parts)
        words.push_back(raw.substr(0, open) + std::string(part) + raw.substr(close + 1));
    return words;
}

void add_alternatives(const BashWord& word, const Lookup& lookup, std::vector<BashWord>& words) {
    std::vector<std::string> pending = {word.raw};
    std::vector<BashWord> found;
    while (!pending.empty()) {
        std::string raw = std::move(pending.front());
        pending.erase(pending.begin());
        std::vector<std::string> expanded = expand_braces(raw);
        if (expanded.size() > 1) {
            pending.insert(pending.begin(), expanded.begin(), expanded.end());
            size_t count = pending.size() + found.size();
            bool is_too_much = count > kMostAlternatives || count * raw.size() > kLongestBashWord;
            if (is_too_much) return words.push_back(word);
            continue;
        }
        size_t at = 0;
        BashWord one = read_word(raw, at, lookup);
        one.line = word.line;
        one.raw = word.raw;
        found.push_back(std::move(one));
    }
    std::ranges::move(found, std::back_inserter(words));
}

// In place of words that are too many, or too long together.
bool limit_words(std::vector<BashWord>& words, size_t from, size_t& letters) {
    for (size_t i = from; i < words.size(); ++i) letters += words[i].text.size();
    if (words.size() <= kMostBashWords && letters <= kMostBashLetters) return false;
    words.resize(1);
    words.front().text.clear();
    words.front().trouble = kTooLarge;
    return true;
}

}  // namespace

BashWord read_word(std::string_view text, size_t& at, const Lookup& lookup) {
    return WordReader(text, at, lookup).read(at);
}

BashWord read_whole(std::string_view text, const Lookup& lookup) {
    return WordReader(text, 0, lookup).read_all();
}

std::optional<std::vector<BashWord>> read_array(std::string_view text, size_t& at, int line,
                                                const Lookup& lookup) {
    std::vector<BashWord> words;
    size_t letters = 0, counted = 0;
    bool is_too_large = false;
    ++at;
    while (at < text.size()) {
        if (is_too_large) words.resize(1);
        if (!is_too_large) is_too_large = limit_words(words, counted, letters);
        counted = words.size();
        if (text[at] == '\n') ++line;
        if (is_bash_blank(text[at])) {
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
        if (word.trouble == kBraces) {
            add_alternatives(word, lookup, words);
        } else {
            words.push_back(std::move(word));
        }
    }
    return std::nullopt;
}

}  // namespace config
