// SPDX-License-Identifier: MIT
// Theory of operation. The text is split into statements: a line together with the lines that its quotes,
// here-documents, backslashes and trailing operators continue. A stack of open blocks (if, case, do, {, ()
// gives the depth of each statement. A statement that leaves the stack unchanged can be removed alone. Any
// other is removed with its block, from the outermost opening to the end. If blocks do not match, this reader
// has lost track: then everything from the first removed block to the end of the file is left out.
#include "plan/home/secret_lines.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "plan/home/secret_forms.h"

namespace plan {
namespace {

constexpr std::string_view kMark = "left out by agent-sandbox: a secret";

struct Block {
    std::string_view opener, closer;
};
constexpr Block kShBlocks[] = {{"if", "fi"}, {"case", "esac"}, {"do", "done"}, {"{", "}"}};
constexpr Block kFishBlocks[] = {{"if", "end"},       {"for", "end"},   {"while", "end"},
                                 {"function", "end"}, {"begin", "end"}, {"switch", "end"}};
constexpr Block kCshBlocks[] = {{"foreach", "end"}, {"while", "end"}, {"switch", "endsw"}, {"then", "endif"}};
// Parts of an open block: a line with one of these can't be removed alone.
constexpr std::string_view kMiddles[] = {"then", "else", "elif", "in", "case", "default:", "breaksw"};

std::span<const Block> blocks_of(Syntax syntax) {
    switch (syntax) {
        case Syntax::sh:
            return kShBlocks;
        case Syntax::fish:
            return kFishBlocks;
        case Syntax::csh:
            return kCshBlocks;
        case Syntax::plain:
            return {};
    }
    return {};
}

struct Statement {
    size_t first = 0, end = 0;  // lines
    size_t depth = 0;           // of the blocks around its start
    bool stands_alone = true;
};

class ShellReader {
  public:
    ShellReader(std::string_view text, Syntax syntax)
        : text_(text), syntax_(syntax), blocks_(blocks_of(syntax)) {}

    std::vector<Statement> statements() {
        while (at_ < text_.size()) read_statement();
        return std::move(found_);
    }
    bool has_lost_track() const { return has_lost_track_ || !open_.empty(); }

  private:
    void read_statement() {
        current_ = {.first = line_, .depth = open_.size()};
        continues_ = is_word_ = false;
        is_command_ = true;
        while (at_ < text_.size()) {
            char c = text_[at_];
            if (c == '\n') {
                end_word();
                next_line();
                for (const std::string& end : here_documents_) skip_here_document(end);
                here_documents_.clear();
                if (!continues_) break;
                continue;
            }
            read(c);
        }
        end_word();
        if (open_.size() != current_.depth) current_.stands_alone = false;
        current_.end = at_ < text_.size() || text_.ends_with('\n') ? line_ : line_ + 1;
        found_.push_back(current_);
    }

    void read(char c) {
        switch (c) {
            case '\\':
                start_word();
                ++at_;
                if (text_.substr(at_).starts_with("\r\n")) ++at_;
                if (at_ < text_.size()) text_[at_] == '\n' ? next_line() : void(++at_);
                return;
            case '`':
                if (syntax_ == Syntax::fish) break;
                start_word();
                return skip_quoted('`', true);
            case '\'':
                start_word();
                return skip_quoted('\'', (at_ > 0 && text_[at_ - 1] == '$') || syntax_ == Syntax::fish);
            case '"':
                start_word();
                return skip_quoted('"', true);
            case '#':
                if (is_word_) break;
                while (at_ < text_.size() && text_[at_] != '\n') ++at_;
                return;
            case '<':
                return read_less();
            case ' ':
            case '\t':
                end_word();
                ++at_;
                return;
            case ';':
            case '&':
            case '|':
            case '(':
            case ')':
                return read_operator(c);
            default:
                break;
        }
        start_word();
        ++at_;
    }

    void start_word() {
        if (!is_word_) word_ = at_;
        is_word_ = true;
        continues_ = false;
    }

    void end_word() {
        if (!is_word_) return;
        is_word_ = false;
        judge(text_.substr(word_, at_ - word_));
    }

    void judge(std::string_view word) {
        bool is_brace = word == "{" || word == "}";
        // csh has its "then" at the end of a line.
        bool counts = is_command_ || is_brace || word == "then";
        // `else if` of fish and csh is one keyword.
        bool is_else = word == "else" && syntax_ == Syntax::sh;
        bool is_prefix = is_else || word == "then" || word == "elif" || word == "do" || word == "!" ||
                         word == "time" || word == "{";
        is_command_ = counts && is_prefix;
        if (!counts) return;
        bool is_middle = std::ranges::find(kMiddles, word) != std::end(kMiddles);
        if (is_middle && open_.size() <= current_.depth && !is_opener(word)) current_.stands_alone = false;
        for (const Block& block : blocks_) {
            if (word == block.opener) return open_.push_back(block.closer);
        }
        for (const Block& block : blocks_) {
            if (word == block.closer) return close(word);
        }
    }

    bool is_opener(std::string_view word) const {
        return std::ranges::any_of(blocks_, [&](const Block& block) { return block.opener == word; });
    }

    void close(std::string_view closer) {
        if (open_.empty() || open_.back() != closer) {
            has_lost_track_ = true;
            current_.stands_alone = false;
            return;
        }
        open_.pop_back();
        if (open_.size() < current_.depth) current_.stands_alone = false;
    }

    void read_operator(char c) {
        end_word();
        ++at_;
        is_command_ = c != ')';
        continues_ = false;
        if (c == '(') {
            open_.emplace_back(")");
            return;
        }
        if (c == ')') {
            // The end of a pattern of `case`.
            if (!open_.empty() && open_.back() == "esac") {
                is_command_ = true;
                if (open_.size() <= current_.depth) current_.stands_alone = false;
                return;
            }
            return close(")");
        }
        bool is_doubled = at_ < text_.size() && text_[at_] == c;
        if (c == ';' && is_doubled && open_.size() <= current_.depth) current_.stands_alone = false;
        continues_ = c == '|' || (c == '&' && is_doubled);
        if (is_doubled) ++at_;
    }

    void skip_quoted(char quote, bool has_escapes) {
        for (++at_; at_ < text_.size() && text_[at_] != quote;) {
            if (text_[at_] == '\\' && has_escapes && at_ + 1 < text_.size()) {
                ++at_;
            } else if (quote == '"' && syntax_ != Syntax::csh && text_.substr(at_).starts_with("$(")) {
                skip_substitution();
                continue;
            } else if (quote == '"' && syntax_ == Syntax::sh && text_[at_] == '`') {
                skip_quoted('`', true);
                continue;
            }
            text_[at_] == '\n' ? next_line() : void(++at_);
        }
        if (at_ >= text_.size()) {
            has_lost_track_ = true;
            return;
        }
        ++at_;
    }

    // $(...) in double quotes has quotes of its own: "$(echo "a")".
    void skip_substitution() {
        size_t depth = 0;
        for (++at_; at_ < text_.size();) {
            char c = text_[at_];
            if (c == '"' || c == '\'' || c == '`') {
                skip_quoted(c, c != '\'');
                continue;
            }
            if (c == '\\' && at_ + 1 < text_.size()) ++at_;
            if (c == '(') ++depth;
            if (c == ')') --depth;
            text_[at_] == '\n' ? next_line() : void(++at_);
            if (depth == 0) return;
        }
    }

    // `<<END`, `<<-'END'`; `<<<` is one word of text.
    void read_less() {
        std::string_view rest = text_.substr(at_);
        if (!rest.starts_with("<<") || rest.starts_with("<<<") || syntax_ == Syntax::fish) {
            end_word();
            at_ += rest.starts_with("<<<") ? 3 : 1;
            return;
        }
        end_word();
        at_ += 2;
        while (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == ' ')) ++at_;
        std::string end;
        constexpr std::string_view kStops = " \t\n;&|()<>";
        while (at_ < text_.size() && kStops.find(text_[at_]) == kStops.npos) {
            if (text_[at_] != '\'' && text_[at_] != '"' && text_[at_] != '\\') end += text_[at_];
            ++at_;
        }
        bool is_shift = !end.empty() && base::is_digit(end[0]);  // of arithmetic
        if (!end.empty() && !is_shift) here_documents_.push_back(std::move(end));
    }

    void skip_here_document(const std::string& end) {
        while (at_ < text_.size()) {
            std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
            at_ += line.size();
            if (at_ < text_.size()) next_line();
            if (base::trim(line) == end) return;
        }
        has_lost_track_ = true;
    }

    void next_line() {
        ++at_;
        ++line_;
    }

    std::string_view text_;
    Syntax syntax_;
    std::span<const Block> blocks_;
    size_t at_ = 0, line_ = 0, word_ = 0;
    bool is_word_ = false, is_command_ = true, continues_ = false;
    std::vector<std::string_view> open_;  // what closes each block
    std::vector<std::string> here_documents_;
    bool has_lost_track_ = false;
    Statement current_;
    std::vector<Statement> found_;
};

std::string_view comment_of(std::string_view name) {
    if (name.ends_with("vimrc") || name.ends_with(".vim") || name.ends_with(".exrc")) return "\"";
    if (name.ends_with(".el") || name == ".emacs") return ";";
    return name.ends_with(".lua") ? "--" : "#";
}

class LineFilter {
  public:
    LineFilter(std::string_view content, std::string_view file_name, const SecretNames& names)
        : content_(content),
          name_(file_name),
          lines_(base::split(content, '\n')),
          syntax_(syntax_of(file_name)),
          comment_(comment_of(file_name)),
          names_(names) {
        if (content.ends_with('\n')) lines_.pop_back();
        texts_.assign(lines_.begin(), lines_.end());
    }

    FilteredText run() {
        syntax_ == Syntax::plain ? filter_lines() : filter_statements();
        FilteredText result{.text = base::join(texts_, "\n"), .left_out = left_out_};
        if (content_.ends_with('\n')) result.text += '\n';
        return result;
    }

  private:
    void filter_lines() {
        for (size_t i = 0; i < lines_.size();) {
            size_t end = i + 1;
            while (end < lines_.size() && continues(end)) ++end;
            bool is_section = base::trim(lines_[i]).starts_with('[') && is_secret_section(lines_[i]);
            if (is_section) {
                while (end < lines_.size() && !base::trim(lines_[end]).starts_with('[')) ++end;
            } else if (is_secret(Statement{.first = i, .end = end}) || is_login(lines_[i])) {
                end = end_of_value(i, end);
            } else {
                i = end;
                continue;
            }
            drop(i, end);
            i = end;
        }
    }

    // A backslash at the end of the line before, or, in vim, at the start of this one.
    bool continues(size_t line) const {
        return base::trim(lines_[line - 1]).ends_with('\\') ||
               (comment_ == "\"" && base::trim(lines_[line]).starts_with('\\'));
    }

    bool is_login(std::string_view line) const {
        return (name_ == ".curlrc" || name_ == ".wgetrc") && is_login_key(line);
    }

    // [env.GH_TOKEN] of cargo: each of its lines may have the value.
    bool is_secret_section(std::string_view line) const {
        std::string_view name = base::trim(line);
        name = name.substr(0, name.find(']'));
        while (!name.empty() && (name.back() == '"' || name.back() == '\'')) name.remove_suffix(1);
        name = name.substr(name.find_last_of(".[\"'") + 1);
        return name == "credential-alias" || names_.has(name);
    }

    // A value may follow on the next lines: in three quotes, in brackets, behind the name, or indented.
    size_t end_of_value(size_t first, size_t end) const {
        const size_t indent = indent_of(lines_[first]);
        int brackets = 0;
        bool is_in_quotes = false;
        for (size_t i = first; i < end; ++i) count(lines_[i], brackets, is_in_quotes);
        while (end < lines_.size()) {
            std::string_view before = base::trim(lines_[end - 1]);
            bool is_deeper = !base::trim(lines_[end]).empty() && indent_of(lines_[end]) > indent;
            bool is_open = !before.empty() && std::string_view("=:|>-").find(before.back()) != before.npos;
            if (!is_in_quotes && brackets <= 0 && !is_deeper && !is_open && !continues(end)) break;
            count(lines_[end], brackets, is_in_quotes);
            ++end;
        }
        return end;
    }

    static size_t indent_of(std::string_view line) {
        return std::min(line.find_first_not_of(" \t"), line.size());
    }

    static void count(std::string_view line, int& brackets, bool& is_in_quotes) {
        for (size_t at = 0; at < line.size(); ++at) {
            std::string_view three = line.substr(at, 3);
            if (three == "\"\"\"" || three == "'''") {
                is_in_quotes = !is_in_quotes;
                at += 2;
            } else if (!is_in_quotes) {
                char c = line[at];
                brackets += c == '(' || c == '[' || c == '{';
                brackets -= c == ')' || c == ']' || c == '}';
            }
        }
    }

    void filter_statements() {
        ShellReader reader(content_, syntax_);
        const std::vector<Statement> all = reader.statements();
        for (size_t i = 0; i < all.size(); ++i) {
            if (!is_secret(all[i])) continue;
            if (all[i].stands_alone) {
                drop(all[i].first, all[i].end);
                if (all[i].depth > 0) texts_[all[i].first] = ": # " + std::string(kMark);
                continue;
            }
            i = drop_block(all, i);
        }
        // A block without its end: either the shell would report an error, or this reader misread it.
        if (!reader.has_lost_track() || left_out_ == 0) return;
        size_t first = 0;
        for (const Statement& statement : all) {
            if (statement.depth == 0 && statement.first <= first_dropped_) first = statement.first;
        }
        drop(first, lines_.size());
    }

    bool is_secret(const Statement& statement) const {
        const char* begin = lines_[statement.first].data();
        std::string_view last = lines_[std::min(statement.end, lines_.size()) - 1];
        return holds_secret({begin, static_cast<size_t>(last.data() + last.size() - begin)}, names_);
    }

    // Drops the statements of the outermost block around this one; returns the index of its last.
    size_t drop_block(const std::vector<Statement>& all, size_t index) {
        size_t first = index, last = index;
        while (first > 0 && all[first].depth > 0) --first;
        while (last + 1 < all.size() && all[last + 1].depth > 0) ++last;
        drop(all[first].first, all[last].end);
        return last;
    }

    void drop(size_t first, size_t end) {
        for (size_t i = first; i < std::min(end, lines_.size()); ++i) {
            bool is_first = i == first;
            texts_[i] = std::string(comment_) + (is_first ? " " + std::string(kMark) : "");
            ++left_out_;
        }
        first_dropped_ = std::min(first_dropped_, first);
    }

    std::string_view content_, name_;
    std::vector<std::string_view> lines_;
    std::vector<std::string> texts_;
    Syntax syntax_;
    std::string_view comment_;
    const SecretNames& names_;
    size_t left_out_ = 0, first_dropped_ = std::string_view::npos;
};

}  // namespace

Syntax syntax_of(std::string_view name) {
    if (name.ends_with(".fish")) return Syntax::fish;
    constexpr std::string_view kCsh[] = {".cshrc", ".tcshrc", ".login", ".logout"};
    if (std::ranges::find(kCsh, name) != std::end(kCsh)) return Syntax::csh;
    constexpr std::string_view kPlain[] = {".toml", ".conf", ".vim", ".lua", ".el", ".yml", ".yaml", ".cfg"};
    constexpr std::string_view kPlainNames[] = {
        ".vimrc",    ".gvimrc",  ".exrc",     ".emacs",  ".condarc",         ".mambarc", ".inputrc",
        ".screenrc", ".gdbinit", ".Rprofile", "config",  ".pam_environment", ".nanorc",  ".ripgreprc",
        ".curlrc",   ".wgetrc",  "npmrc",     "condarc", "Makevars"};
    bool is_plain =
        std::ranges::any_of(kPlain, [&](std::string_view ending) { return name.ends_with(ending); }) ||
        std::ranges::find(kPlainNames, name) != std::end(kPlainNames);
    return is_plain ? Syntax::plain : Syntax::sh;
}

FilteredText without_secret_lines(std::string_view content, std::string_view file_name,
                                  const SecretNames& names) {
    // Check the whole text first: most files contain no secret. A section or a key may be one by its name.
    bool has_sections = content.starts_with('[') || content.find("\n[") != content.npos;
    bool has_keys = has_sections || file_name == ".curlrc" || file_name == ".wgetrc";
    bool may_hold = (syntax_of(file_name) == Syntax::plain && has_keys) || holds_secret(content, names);
    if (!may_hold) return {std::string(content), 0};
    return LineFilter(content, file_name, names).run();
}

}  // namespace plan
