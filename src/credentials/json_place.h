// SPDX-License-Identifier: MIT
// Finds and changes a value in the text of a JSON object, so that everything else in the text stays as it is:
// numbers, order, spaces. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace credentials {

// The place of a value in the text.
struct JsonPlace {
    size_t at = 0, size = 0;
    std::optional<std::string> text;  // of a string, without its escapes
};
// Nothing if the text is not a JSON object, or has no value at these keys. Of keys with the same name the
// last one counts, as for most readers.
std::optional<JsonPlace> find_in_json(std::string_view text, std::span<const std::string> keys);

// The text with this value, itself JSON, at the keys. Missing objects and keys are added. Nothing if the text
// is not a JSON object, or has another value than an object on the way. An empty text counts as {}.
std::optional<std::string> with_json_value(std::string_view text, std::span<const std::string> keys,
                                           std::string_view value);

}  // namespace credentials
