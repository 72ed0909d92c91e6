// SPDX-License-Identifier: MIT
#include "config/bash_text.h"

#include <algorithm>

#include "base/text.h"
#include "config/bash_quotes.h"

namespace config {
namespace {

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
        std::string_view rest = script_.substr(at_);
        if (letter == '#' && starts_word()) {
            at_ = std::min(script_.find('\n', at_), script_.size());
        } else if (rest.starts_with("\\\n")) {
            take_silently(at_ + 2);
        } else if (rest.starts_with("\\\r\n")) {
            take_silently(at_ + 3);
        } else if (letter == '\n') {
            if (depth_ == 0 && !goes_on_) finish();
            take(at_ + 1);
            skip_here_documents();
        } else if (letter == ';' && depth_ == 0) {
            finish();
            take_separator();
        } else if (rest.starts_with("<<<")) {
            take(at_ + 3);
        } else if (rest.starts_with("<<") && !is_arithmetic_) {
            note_here_document();
        } else {
            take_text(letter);
        }
    }

    // Behind a blank or an operator; an escaped one is neither.
    bool starts_word() const {
        constexpr std::string_view kOperators = "();|&<>";
        if (current_.empty()) return true;
        return is_plain_ &&
               (is_bash_blank(current_.back()) || kOperators.find(current_.back()) != std::string_view::npos);
    }

    void take_text(char letter) {
        if (letter == '(') {
            if (depth_ == 0) is_arithmetic_ = script_.substr(at_).starts_with("((");
            ++depth_;
        }
        // The patterns of a case statement close what nothing opened.
        if (letter == ')' && depth_ > 0) {
            --depth_;
            if (depth_ == 0) is_arithmetic_ = false;
        }
        // Behind these a command goes on in the next line.
        bool is_pair = is_plain_ && !current_.empty() && (current_.back() == '&' || current_.back() == '|');
        if (!is_bash_blank(letter)) goes_on_ = letter == '|' || (letter == '&' && is_pair);
        size_t end = skip_bash_quoted(script_, at_);
        if (!is_closed_bash(script_.substr(at_, end - at_))) is_closed_ = false;
        take(end);
    }

    // ";;", ";&" and ";;&" end a clause of a case.
    void take_separator() {
        size_t end = at_ + 1;
        while (end < script_.size() && end < at_ + 3 && (script_[end] == ';' || script_[end] == '&')) ++end;
        if (end > at_ + 1) statements_.push_back({line_, std::string(kEndOfClause), true});
        take_silently(end);
    }

    void take(size_t end) {
        if (current_.empty()) start_line_ = line_;
        bool is_leading_blank = current_.empty() && is_bash_blank(script_[at_]);
        if (!is_leading_blank) current_ += script_.substr(at_, end - at_);
        is_plain_ = end == at_ + 1;
        take_silently(end);
    }

    void take_silently(size_t end) {
        line_ += static_cast<int>(std::count(script_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             script_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end;
    }

    void finish() {
        std::string_view text = base::trim(current_);
        bool is_closed = is_closed_ && depth_ == 0;
        if (!text.empty()) statements_.push_back({start_line_, std::string(text), is_closed});
        current_.clear();
        depth_ = 0;
        is_closed_ = true;
        is_arithmetic_ = false;
        goes_on_ = false;
    }

    struct HereDocument {
        std::string delimiter;
        bool strips_tabs = false;
        bool is_quoted = false;  // a backslash joins no lines
    };

    void note_here_document() {
        constexpr std::string_view kEnd = ";|&<>()";
        HereDocument document;
        size_t at = at_ + 2;
        document.strips_tabs = script_.substr(at).starts_with('-');
        if (document.strips_tabs) ++at;
        while (at < script_.size() && (script_[at] == ' ' || script_[at] == '\t')) ++at;
        while (at < script_.size() && !is_bash_blank(script_[at]) &&
               kEnd.find(script_[at]) == std::string_view::npos) {
            size_t end = skip_bash_quoted(script_, at);
            std::string_view part = script_.substr(at, end - at);
            bool is_quote = part.front() == '\'' || part.front() == '"';
            if (is_quote || part.front() == '\\') document.is_quoted = true;
            if (part.front() == '\\') part.remove_prefix(1);
            if (is_quote) part = part.substr(1, part.size() - std::min<size_t>(part.size(), 2));
            document.delimiter += part;
            at = end;
        }
        goes_on_ = false;
        here_documents_.push_back(std::move(document));
        take(at);
    }

    void skip_here_documents() {
        for (const HereDocument& document : here_documents_) {
            if (skip_here_document(document)) continue;
            // Whatever stands in the rest of the file belongs to it.
            is_closed_ = false;
            if (base::trim(current_).empty() && !statements_.empty()) statements_.back().is_closed = false;
        }
        here_documents_.clear();
    }

    bool skip_here_document(const HereDocument& document) {
        bool is_joined = false;
        while (at_ < script_.size()) {
            size_t end = std::min(script_.find('\n', at_), script_.size());
            std::string_view line = script_.substr(at_, end - at_);
            if (line.ends_with('\r')) line.remove_suffix(1);
            while (document.strips_tabs && line.starts_with('\t')) line.remove_prefix(1);
            bool is_end = !is_joined && line == document.delimiter;
            size_t text_end = line.find_last_not_of('\\') + 1;
            is_joined = !document.is_quoted && (line.size() - text_end) % 2 == 1;
            take_silently(std::min(end + 1, script_.size()));
            if (is_end) return true;
        }
        return false;
    }

    std::string_view script_;
    size_t at_ = 0;
    int line_ = 1;
    int start_line_ = 1;
    int depth_ = 0;  // of parentheses: an array literal is one statement
    bool is_closed_ = true;
    bool is_plain_ = true;        // what was taken last is one letter without a backslash
    bool goes_on_ = false;        // behind &&, || or |
    bool is_arithmetic_ = false;  // in (( )), where << shifts
    std::string current_;
    std::vector<HereDocument> here_documents_;
    std::vector<BashStatement> statements_;
};

bool is_operator(char letter) {
    return letter == '&' || letter == '|';
}

}  // namespace

std::vector<BashStatement> split_statements(std::string_view script) {
    return StatementSplitter(script).split();
}

std::vector<std::string> split_raw_words(std::string_view statement) {
    std::vector<std::string> words;
    for (size_t at = 0; at < statement.size();) {
        if (is_bash_blank(statement[at])) {
            ++at;
            continue;
        }
        size_t start = at;
        bool is_word = !is_operator(statement[at]);
        while (at < statement.size() && !is_bash_blank(statement[at]) &&
               is_operator(statement[at]) != is_word)
            at = skip_bash_quoted(statement, at);
        words.emplace_back(statement.substr(start, at - start));
    }
    return words;
}

}  // namespace config
