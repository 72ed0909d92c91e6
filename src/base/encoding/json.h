// SPDX-License-Identifier: MIT
// A JSON value with ordered members, so that the output is stable. Only json.cc includes the library behind
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace base {

class Json {
  public:
    using Array = std::vector<Json>;
    using Object = std::vector<std::pair<std::string, Json>>;

    Json() = default;
    Json(bool value) : content_(value) {}
    Json(int value) : content_(static_cast<int64_t>(value)) {}
    Json(int64_t value) : content_(value) {}
    Json(size_t value) : content_(static_cast<int64_t>(value)) {}
    Json(const char* value) : content_(std::string(value)) {}
    Json(std::string_view value) : content_(std::string(value)) {}
    Json(std::string value) : content_(std::move(value)) {}
    Json(Array value) : content_(std::move(value)) {}
    Json(Object value) : content_(std::move(value)) {}

    static Json array() { return Json(Array{}); }
    static Json object() { return Json(Object{}); }

    // Building. A member that is set again keeps its position and gets the new value.
    Json& set(std::string key, Json value);
    Json& push(Json value);

    // Reading: a missing member or a value of another type gives the default.
    const Json* find(std::string_view key) const;
    std::string text(std::string_view key, std::string_view otherwise = "") const;
    int64_t number(std::string_view key, int64_t otherwise = 0) const;
    bool truth(std::string_view key, bool otherwise = false) const;
    const Array& items(std::string_view key) const;
    const Array& items() const;
    const Object& members() const;
    const std::string* as_text() const { return std::get_if<std::string>(&content_); }
    const bool* as_truth() const { return std::get_if<bool>(&content_); }
    const int64_t* as_number() const { return std::get_if<int64_t>(&content_); }
    bool is_object() const { return std::holds_alternative<Object>(content_); }
    bool is_array() const { return std::holds_alternative<Array>(content_); }
    bool is_null() const { return std::holds_alternative<std::monostate>(content_); }

    // Bytes that are not UTF-8 become replacement characters. indent < 0: one line.
    std::string dump(int indent = 2) const;
    // A number that is not a 64-bit integer is read as null.
    static Result<Json> parse(std::string_view text);

  private:
    std::variant<std::monostate, bool, int64_t, std::string, Array, Object> content_;
};

}  // namespace base
