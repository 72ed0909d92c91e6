// SPDX-License-Identifier: MIT
// Encodes and decodes a structure from one list of its fields, as texts that each end with NUL (fields.h). A
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
#include "base/encoding/fields.h"
#include "base/path.h"

namespace base {

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
