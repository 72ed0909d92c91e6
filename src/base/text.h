// SPDX-License-Identifier: MIT
// Small text helpers, mainly those that keep untrusted bytes from reaching a terminal.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace base {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// What is after the last slash.
constexpr std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

// "1 file", "2 files"
std::string counted(uint64_t count, std::string_view one, std::string_view several);

// Control characters, escape sequences, bidirectional overrides and bytes that are not UTF-8 become visible
// escapes (\x1b). All untrusted text must pass through this function before it is shown.
std::string printable(std::string_view untrusted);

// As one word of a POSIX shell command line, quoted only where needed.
std::string shell_word(std::string_view text);

// The candidate nearest to a mistyped word, at most `most` edits away; empty if no candidate is that near.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates, size_t most);
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

bool is_valid_utf8(std::string_view text);

// The first character of UTF-8 text. Length 0: the text is empty or does not begin with valid UTF-8.
struct CodePoint {
    uint32_t value = 0;
    size_t length = 0;
};
CodePoint first_code_point(std::string_view text);

// A time in the form used in file names: "20240229T235959Z". Without the C library, which would read the
// machine's time zone.
std::string utc_stamp(std::time_t moment);

// Messages from a format and its arguments. text.cc calls fmt; this header does not include it, because its
// headers would double the time to compile a file.

// One argument of format(): a text, a number, a character, or an object with a text, such as a Path.
class FormatArgument {
  public:
    FormatArgument(std::string_view text) : value_(text) {}
    FormatArgument(const std::string& text) : value_(std::string_view(text)) {}
    FormatArgument(const char* text) : value_(std::string_view(text)) {}
    FormatArgument(char letter) : value_(letter) {}
    FormatArgument(std::signed_integral auto number) : value_(int64_t{number}) {}
    FormatArgument(std::unsigned_integral auto number) : value_(uint64_t{number}) {}
    FormatArgument(bool) = delete;  // write the two words instead
    template <typename T>
    requires requires(const T& object) {
        { object.str() } -> std::same_as<const std::string&>;
    }
    FormatArgument(const T& object) : FormatArgument(object.str()) {}

    using Value = std::variant<std::string_view, int64_t, uint64_t, char>;
    const Value& value() const { return value_; }

  private:
    Value value_;
};

// A literal with one "{}" for each argument; "{{" and "}}" are braces. The compiler checks it.
template <typename... Arguments>
class Format {
  public:
    template <size_t N>
    consteval Format(const char (&literal)[N]) : literal_(literal, N - 1) {
        size_t places = 0;
        for (size_t i = 0; i < literal_.size(); ++i) {
            if (literal_[i] != '{' && literal_[i] != '}') continue;
            std::string_view pair = literal_.substr(i++, 2);
            if (pair == "{}") {
                ++places;
            } else if (pair != "{{" && pair != "}}") {
                throw "a brace stands alone: write {{ or }}";
            }
        }
        if (places != sizeof...(Arguments)) throw "the number of {} differs from the number of arguments";
    }
    std::string_view str() const { return literal_; }

  private:
    std::string_view literal_;
};

std::string format_list(std::string_view format, std::span<const FormatArgument> arguments);

// format("{}: '{}' is written twice", file, key)
template <typename... Arguments>
std::string format(Format<std::type_identity_t<Arguments>...> literal, const Arguments&... arguments) {
    static_assert(sizeof...(Arguments) > 0);
    const FormatArgument list[] = {FormatArgument(arguments)...};
    return format_list(literal.str(), list);
}

}  // namespace base
