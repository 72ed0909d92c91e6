// SPDX-License-Identifier: MIT
#include "config/bash_compound.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "config/bash_quotes.h"
#include "config/bash_text.h"

namespace config {
namespace {

constexpr std::string_view kMeta = "()|&<>;";

bool contains(std::span<const std::string_view> words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

bool ends_word(char letter) {
    return is_bash_blank(letter) || kMeta.find(letter) != std::string_view::npos;
}

}  // namespace

bool BashCompounds::read(std::string_view statement) {
    text_ = statement;
    at_ = 0;
    is_command_ = true;
    is_name_ = false;
    if (statement == kEndOfClause) {
        if (!is_inside(Kind::clause)) return false;
        open_.back() = Kind::pattern;
        return true;
    }
    while (at_ < text_.size()) {
        if (is_bash_blank(text_[at_])) {
            ++at_;
        } else if (!step()) {
            return false;
        }
    }
    return true;
}

bool BashCompounds::step() {
    if (is_inside(Kind::pattern)) return read_pattern();
    if (is_inside(Kind::test)) {
        size_t end = std::max(word_end(at_), at_ + 1);
        if (text_.substr(at_, end - at_) == "]]") {
            open_.pop_back();
            is_command_ = false;
        }
        at_ = end;
        return true;
    }
    return ends_word(text_[at_]) ? read_operator() : read_word();
}

bool BashCompounds::read_operator() {
    char letter = text_[at_];
    if (letter == ')') return false;
    if (letter == '(') {
        size_t end = group_end(at_);
        // name () is the head of a function, and behind for (( )) a brace may follow.
        is_command_ = base::trim(text_.substr(at_ + 1, end - at_ - 2)).empty();
        at_ = end;
        return true;
    }
    if (letter == '<' || letter == '>') {
        while (at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '&')) ++at_;
        return true;
    }
    bool redirects = letter == '&' && text_.substr(at_ + 1).starts_with('>');
    if (!redirects) is_command_ = true;
    ++at_;
    return true;
}

// "a)", "(a | b)" or the esac that stands where a pattern could.
bool BashCompounds::read_pattern() {
    if (text_.substr(at_, word_end(at_) - at_) == "esac") {
        at_ = word_end(at_);
        is_command_ = false;
        open_.pop_back();
        return true;
    }
    if (text_[at_] == '(') ++at_;
    while (at_ < text_.size() && text_[at_] != ')') {
        at_ = text_[at_] == '(' ? group_end(at_) : skip_bash_quoted(text_, at_);
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    open_.back() = Kind::clause;
    is_command_ = true;
    return true;
}

bool BashCompounds::read_word() {
    size_t end = word_end(at_);
    bool is_head = false;
    // An array literal, a pattern such as @(a|b), or the parentheses of a function.
    while (end < text_.size() && text_[end] == '(') {
        size_t close = group_end(end);
        is_head = base::trim(text_.substr(end + 1, close - end - 2)).empty() && text_[end - 1] != '=';
        end = is_head ? close : word_end(close);
    }
    std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (is_inside(Kind::subject)) {
        open_.back() = Kind::subject_end;
        return true;
    }
    if (is_inside(Kind::subject_end)) {
        open_.back() = Kind::pattern;
        return word == "in";
    }
    if (is_head || is_name_) {
        is_command_ = true;
        is_name_ = false;
        return true;
    }
    return !is_command_ || read_command_word(word);
}

bool BashCompounds::read_command_word(std::string_view word) {
    static constexpr std::array<std::string_view, 3> kPart = {"then", "else", "elif"};
    static constexpr std::array<std::string_view, 3> kBefore = {"!", "time", "-p"};
    is_command_ = true;
    if (contains(kPart, word)) return is_inside(Kind::condition);
    if (word == "do") return is_inside(Kind::loop);
    if (contains(kBefore, word)) return true;
    if (word == "if" || word == "while" || word == "until" || word == "{") {
        open_.push_back(word == "if" ? Kind::condition : word == "{" ? Kind::group : Kind::loop);
        return true;
    }
    if (word == "function" || word == "coproc") {
        // coproc has a name only where a compound command follows: a reserved word is none.
        is_name_ = word == "function";
        return true;
    }
    is_command_ = false;
    if (word == "for" || word == "select") open_.push_back(Kind::loop);
    if (word == "case") open_.push_back(Kind::subject);
    if (word == "[[") open_.push_back(Kind::test);
    if (word == "fi") return close(Kind::condition);
    if (word == "done") return close(Kind::loop);
    if (word == "}") return close(Kind::group);
    if (word == "esac") return close(Kind::clause);
    return true;
}

bool BashCompounds::close(Kind kind) {
    if (!is_inside(kind)) return false;
    open_.pop_back();
    return true;
}

size_t BashCompounds::word_end(size_t at) const {
    while (at < text_.size() && !ends_word(text_[at])) at = skip_bash_quoted(text_, at);
    return at;
}

size_t BashCompounds::group_end(size_t at) const {
    int depth = 0;
    while (at < text_.size()) {
        if (text_[at] == '(') ++depth;
        if (text_[at] == ')' && --depth == 0) return at + 1;
        at = skip_bash_quoted(text_, at);
    }
    return text_.size();
}

}  // namespace config
