// SPDX-License-Identifier: MIT
// Encodes and decodes a structure from one list of its fields, as texts that each end with NUL. A
// type is listed once, beside the functions that send it, or below its definition if several do:
//     template <>
//     inline constexpr auto base::kFields<Check> = std::tuple(&Check::target, &Check::is_readonly);
// An enumeration names its last value, because a value without an enumerator means damaged data:
//     template <>
//     inline constexpr Internet base::kLast<Internet> = Internet::handed;
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/encoding/field_list.h"
#include "base/parse.h"
#include "base/path.h"

namespace base {

// Texts of fields that each end with NUL: the message format between processes of this program. A field can't
// contain a NUL; paths, arguments and variables can't either.

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

// For a type whose encoding is not the list of its members: specialize it with write() and read().
template <typename Type>
struct OwnEncoding : NotListed {};

template <typename Type>
void write(FieldWriter& writer, const Type& value);
template <typename Type>
void read(FieldReader& reader, Type& value);

template <typename Type>
void write(FieldWriter& writer, const std::vector<Type>& list) {
    writer.add(list.size());
    for (const Type& entry : list) write(writer, entry);
}
template <typename Type>
void read(FieldReader& reader, std::vector<Type>& list) {
    list.resize(reader.get_count());
    for (Type& entry : list) read(reader, entry);
}

template <typename First, typename Second>
void write(FieldWriter& writer, const std::pair<First, Second>& pair) {
    write(writer, pair.first);
    write(writer, pair.second);
}
template <typename First, typename Second>
void read(FieldReader& reader, std::pair<First, Second>& pair) {
    read(reader, pair.first);
    read(reader, pair.second);
}

inline void write(FieldWriter& writer, const Path& path) {
    writer.add(std::string_view(path.str()));
}
inline void read(FieldReader& reader, Path& path) {
    Result<Path> parsed = Path::parse(std::string(reader.next()));
    if (!parsed) return reader.reject();
    path = *std::move(parsed);
}

template <typename Type>
void write(FieldWriter& writer, const Type& value) {
    if constexpr (!std::derived_from<OwnEncoding<Type>, NotListed>) {
        OwnEncoding<Type>::write(writer, value);
    } else if constexpr (std::same_as<Type, bool>) {
        writer.add(int{value});
    } else if constexpr (std::is_enum_v<Type>) {
        writer.add(static_cast<int>(value));
    } else if constexpr (std::integral<Type>) {
        writer.add(value);
    } else if constexpr (std::same_as<Type, std::string>) {
        writer.add(std::string_view(value));
    } else {
        std::apply([&](auto... field) { (write(writer, value.*field), ...); }, kFields<Type>);
    }
}

template <typename Type>
void read(FieldReader& reader, Type& value) {
    if constexpr (!std::derived_from<OwnEncoding<Type>, NotListed>) {
        OwnEncoding<Type>::read(reader, value);
    } else if constexpr (std::is_enum_v<Type>) {
        value = reader.get_one_of(kLast<Type>);
    } else if constexpr (std::integral<Type> || std::same_as<Type, std::string>) {
        reader.get(value);
    } else {
        std::apply([&](auto... field) { (read(reader, value.*field), ...); }, kFields<Type>);
    }
}

// A whole message. `name` tells it from other messages, and from those of another version.
template <typename Type>
std::string encode_message(std::string_view name, const Type& value) {
    FieldWriter writer;
    writer.add(name);
    write(writer, value);
    return writer.take();
}

enum class Decoded { well, other, damaged };  // `other`: the message has another name

template <typename Type>
Decoded decode_message(std::string_view name, std::string_view text, Type& value) {
    FieldReader reader(text);
    if (reader.next() != name) return Decoded::other;
    read(reader, value);
    return reader.is_complete() ? Decoded::well : Decoded::damaged;
}

// Removes one value from the front of `stream`; false if it is not complete yet, or damaged.
template <typename Type>
bool take(std::string& stream, Type& value) {
    FieldReader reader(stream);
    read(reader, value);
    if (!reader.is_good()) return false;
    stream.erase(0, stream.size() - reader.rest().size());
    return true;
}

}  // namespace base
