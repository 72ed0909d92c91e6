// SPDX-License-Identifier: MIT
#include "modules/answer.h"

#include "base/parse.h"
#include "base/text.h"

namespace modules {
namespace {

constexpr size_t kShownOfLine = 80;

class Reader {
  public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool is_at_end() const { return rest_.empty(); }

    bool take(std::string_view expected) {
        if (!rest_.starts_with(expected)) return false;
        rest_.remove_prefix(expected.size());
        return true;
    }

    // The end of a statement: some releases of Lmod write a semicolon before the newline.
    bool take_end() {
        take(";");
        return rest_.empty() || take("\n");
    }

    std::string_view take_line() {
        std::string_view line = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(line.size());
        take("\n");
        return line;
    }

    std::optional<std::string> take_text() {
        if (take("\"")) return take_until_double();
        if (take("'")) return take_until_single();
        return std::nullopt;
    }

  private:
    // As Lua's format("%q") writes it: \" \\ \r, a backslash before a real newline, and decimal numbers.
    std::optional<std::string> take_until_double() {
        std::string text;
        while (!rest_.empty()) {
            char letter = take_letter();
            if (letter == '"') return text;
            if (letter != '\\') {
                text += letter;
                continue;
            }
            if (rest_.empty()) return std::nullopt;
            if (base::is_digit(rest_.front())) {
                std::optional<char> byte = take_number();
                if (!byte) return std::nullopt;
                text += *byte;
                continue;
            }
            char escaped = take_letter();
            text += escaped == 'r' ? '\r' : escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
        }
        return std::nullopt;
    }

    // As Environment Modules writes it: only the quote itself has a backslash before it.
    std::optional<std::string> take_until_single() {
        std::string text;
        while (!rest_.empty()) {
            char letter = take_letter();
            if (letter == '\'') return text;
            if (letter == '\\' && rest_.starts_with('\'')) letter = take_letter();
            text += letter;
        }
        return std::nullopt;
    }

    char take_letter() {
        char letter = rest_.front();
        rest_.remove_prefix(1);
        return letter;
    }

    std::optional<char> take_number() {
        unsigned number = 0;
        for (int digits = 0; digits < 3 && !rest_.empty() && base::is_digit(rest_.front()); ++digits)
            number = number * 10 + static_cast<unsigned>(take_letter() - '0');
        if (number == 0 || number > 255) return std::nullopt;
        return static_cast<char>(number);
    }

    std::string_view rest_;
};

bool is_usable(const Change& change) {
    constexpr std::string_view kNeverInName("=\0", 2);
    if (change.name.empty() || change.name.find_first_of(kNeverInName) != std::string::npos) return false;
    return !change.value || change.value->find('\0') == std::string::npos;
}

bool take_assignment(Reader& reader, Change& change) {
    std::optional<std::string> name = reader.take_text();
    if (!name || !reader.take("] = ")) return false;
    std::optional<std::string> value = reader.take_text();
    if (!value || !reader.take_end()) return false;
    change = {*std::move(name), std::move(value)};
    return is_usable(change);
}

bool take_removal(Reader& reader, Change& change) {
    std::optional<std::string> name = reader.take_text();
    if (!name || !reader.take("]") || !reader.take_end()) return false;
    change = {*std::move(name), std::nullopt};
    return is_usable(change);
}

// A change of directory of the caller's shell. Ignored: the plan sets the directory of the jail's command.
bool take_directory(Reader& reader) {
    return reader.take_text() && reader.take(")") && reader.take_end();
}

}  // namespace

base::Result<Answer> parse_answer(std::string_view text) {
    Answer answer;
    Reader reader(text);
    while (!reader.is_at_end()) {
        Reader line = reader;
        Change change;
        if (reader.take("\n") || reader.take("import os\n")) continue;
        if (reader.take("_mlstatus = ")) {
            answer.has_failed = reader.take_line() != "True";
            continue;
        }
        if (reader.take("os.chdir(") && take_directory(reader)) continue;
        bool is_understood = (reader.take("os.environ[") && take_assignment(reader, change)) ||
                             (reader.take("del os.environ[") && take_removal(reader, change));
        if (!is_understood) {
            return base::Error{.what = "the module command printed a line that is not an assignment: " +
                                       base::printable(line.take_line().substr(0, kShownOfLine)),
                               .advice = "a module that writes to its standard output can't be loaded here"};
        }
        answer.changes.push_back(std::move(change));
    }
    return answer;
}

}  // namespace modules
