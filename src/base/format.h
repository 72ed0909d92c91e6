// SPDX-License-Identifier: MIT
// Messages from a format and its arguments. text.cc calls fmt; this header does not include it, because its
// headers would double the time to compile a file.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace base {

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
