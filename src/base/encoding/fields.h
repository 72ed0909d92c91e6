// SPDX-License-Identifier: MIT
// Texts of fields that each end with NUL: the message format between processes of this program. A field can't
// contain a NUL; paths, arguments and variables can't either.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/parse.h"

namespace base {

class FieldWriter {
  public:
    void add(std::string_view text) {
        text_ += text;
        text_ += '\0';
    }
    void add(std::integral auto number) { add(std::string_view(std::to_string(number))); }
    void add(const std::vector<std::string>& list) {
        add(list.size());
        for (const std::string& entry : list) add(std::string_view(entry));
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

// Records a failure instead of returning it, so that reading stays one line a field.
class FieldReader {
  public:
    explicit FieldReader(std::string_view text) : rest_(text) {}

    void get(std::string& field) { field = next(); }
    void get(std::integral auto& number) {
        auto value = parse_number<std::remove_cvref_t<decltype(number)>>(next());
        if (!value) is_good_ = false;
        number = value.value_or(number);
    }
    void get(bool& truth) {
        std::string_view field = next();
        if (field != "0" && field != "1") is_good_ = false;
        truth = field == "1";
    }
    void get(std::vector<std::string>& list) {
        list.resize(get_count());
        for (std::string& entry : list) get(entry);
    }
    // A value without an enumerator means damaged data.
    template <typename Enumeration>
    Enumeration get_one_of(Enumeration last) {
        int number = 0;
        get(number);
        bool is_known = number >= 0 && number <= static_cast<int>(last);
        if (!is_known) reject();
        return is_known ? static_cast<Enumeration>(number) : Enumeration{};
    }
    // A count is never larger than the remaining text, so that a damaged one can't allocate all memory.
    size_t get_count() {
        size_t count = 0;
        get(count);
        if (count > rest_.size()) is_good_ = false;
        return is_good_ ? count : 0;
    }
    // The text after the fields read so far.
    std::string_view rest() const { return rest_; }
    std::string_view next() {
        size_t end = rest_.find('\0');
        if (end == std::string_view::npos) {
            is_good_ = false;
            rest_ = {};
            return {};
        }
        std::string_view field = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return field;
    }
    void reject() { is_good_ = false; }
    bool is_good() const { return is_good_; }
    bool is_at_end() const { return rest_.empty(); }
    bool is_complete() const { return is_good_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool is_good_ = true;
};

}  // namespace base
