// SPDX-License-Identifier: MIT
#include "plan/project/git_config_strict.h"

namespace plan {
namespace {

constexpr char kEnd = '\n';  // git reads the end of the file as the end of a line

bool is_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}
bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}
char to_lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// The functions have the structure of git_parse_source() and its helpers.
class StrictParser {
  public:
    explicit StrictParser(std::string_view text) : text_(text) {
        constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
        if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    }

    StrictConfig parse() {
        StrictConfig config;
        bool is_good = true;
        bool is_comment = false;
        while (is_good) {
            const size_t line = line_;
            const char letter = next();
            if (letter == '\n') {
                if (is_at_end_) break;
                is_comment = false;
            } else if (is_comment || is_blank(letter)) {
                continue;
            } else if (letter == '#' || letter == ';') {
                is_comment = true;
            } else if (letter == '[') {
                is_good = take_section();
            } else {
                StrictSetting setting{.key = section_ + to_lower(letter), .value = {}, .line = line};
                // Without a section git would take the word alone as the key.
                is_good = is_letter(letter) && !section_.empty() && take_setting(setting);
                if (is_good) config.settings.push_back(std::move(setting));
            }
            if (!is_good) config.bad_line = line;
        }
        return config;
    }

  private:
    char next() {
        if (at_ >= text_.size()) {
            is_at_end_ = true;
            return kEnd;
        }
        char letter = text_[at_++];
        if (letter == '\r' && at_ < text_.size() && text_[at_] == '\n') letter = text_[at_++];
        if (letter == '\n') ++line_;
        return letter;
    }

    bool take_section() {
        section_.clear();
        while (true) {
            const char letter = next();
            if (is_at_end_) return false;
            if (letter == ']') break;
            if (is_blank(letter)) return take_subsection(letter);
            if (!is_git_key_letter(letter) && letter != '.') return false;
            section_ += to_lower(letter);
        }
        section_ += '.';
        return section_.size() > 1;
    }

    bool take_subsection(char letter) {
        do {
            if (letter == '\n') return false;
            letter = next();
        } while (is_blank(letter));
        if (letter != '"') return false;
        section_ += '.';
        while (true) {
            letter = next();
            if (letter == '\n') return false;
            if (letter == '"') break;
            if (letter == '\\') letter = next();
            if (letter == '\n') return false;
            section_ += letter;
        }
        section_ += '.';
        return next() == ']';
    }

    bool take_setting(StrictSetting& setting) {
        char letter = next();
        for (; !is_at_end_ && is_git_key_letter(letter); letter = next()) setting.key += to_lower(letter);
        while (letter == ' ' || letter == '\t') letter = next();
        if (letter == '\n') return true;
        if (letter != '=') return false;
        setting.value.emplace();
        return take_value(*setting.value);
    }

    bool take_value(std::string& value) {
        bool is_quoted = false;
        bool is_comment = false;
        std::optional<size_t> trimmed;  // the length without blanks at the end
        while (true) {
            char letter = next();
            if (letter == '\n') {
                if (trimmed) value.resize(*trimmed);
                return !is_quoted;
            }
            if (is_comment) continue;
            if (is_blank(letter) && !is_quoted) {
                if (!trimmed) trimmed = value.size();
                if (!value.empty()) value += letter;
                continue;
            }
            if (!is_quoted && (letter == ';' || letter == '#')) {
                is_comment = true;
                continue;
            }
            trimmed.reset();
            if (letter == '"') {
                is_quoted = !is_quoted;
            } else if (letter != '\\') {
                value += letter;
            } else if (!take_escaped(value)) {
                return false;
            }
        }
    }

    bool take_escaped(std::string& value) {
        switch (const char letter = next()) {
            case '\n':
                return !is_at_end_;
            case 't':
                value += '\t';
                return true;
            case 'b':
                value += '\b';
                return true;
            case 'n':
                value += '\n';
                return true;
            case '\\':
            case '"':
                value += letter;
                return true;
            default:
                return false;
        }
    }

    std::string_view text_;
    size_t at_ = 0;
    size_t line_ = 1;
    bool is_at_end_ = false;
    std::string section_;  // with a dot at the end
};

}  // namespace

bool is_git_key_letter(char letter) {
    return is_letter(letter) || (letter >= '0' && letter <= '9') || letter == '-';
}

StrictConfig parse_git_config_strictly(std::string_view text) {
    return StrictParser(text).parse();
}

}  // namespace plan
