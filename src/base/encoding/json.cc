// SPDX-License-Identifier: MIT
#include "base/encoding/json.h"

#include <nlohmann/json.hpp>

namespace base {
namespace {

using Library = nlohmann::ordered_json;

Library to_library(const Json& value) {
    if (const bool* truth = value.as_truth()) return *truth;
    if (const int64_t* number = value.as_number()) return *number;
    if (const std::string* text = value.as_text()) return *text;
    if (value.is_array()) {
        Library array = Library::array();
        for (const Json& item : value.items()) array.push_back(to_library(item));
        return array;
    }
    if (value.is_object()) {
        Library object = Library::object();
        for (const auto& [key, member] : value.members()) object[key] = to_library(member);
        return object;
    }
    return nullptr;
}

// Our own data never nests deeper; a file that does must not exhaust the stack.
constexpr int kDeepest = 200;

bool fits(const Library& number) {
    if (number.is_number_float()) return false;
    return !number.is_number_unsigned() || number.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
}

Result<Json> from_library(const Library& value, int depth = 0) {
    if (depth > kDeepest) return Error{.what = "not valid JSON: nested too deeply"};
    if (value.is_boolean()) return Json(value.get<bool>());
    if (value.is_number()) return fits(value) ? Json(value.get<int64_t>()) : Json();
    if (value.is_string()) return Json(value.get<std::string>());
    if (value.is_array()) {
        Json::Array array;
        for (const Library& item : value) {
            Result<Json> converted = from_library(item, depth + 1);
            if (!converted) return converted;
            array.push_back(*std::move(converted));
        }
        return Json(std::move(array));
    }
    if (value.is_object()) {
        Json::Object object;
        for (const auto& [key, member] : value.items()) {
            Result<Json> converted = from_library(member, depth + 1);
            if (!converted) return converted;
            object.emplace_back(key, *std::move(converted));
        }
        return Json(std::move(object));
    }
    return Json();
}

}  // namespace

Json& Json::set(std::string key, Json value) {
    if (!is_object()) content_ = Object{};
    for (auto& [name, present] : std::get<Object>(content_)) {
        if (name != key) continue;
        present = std::move(value);
        return *this;
    }
    std::get<Object>(content_).emplace_back(std::move(key), std::move(value));
    return *this;
}

Json& Json::push(Json value) {
    if (!is_array()) content_ = Array{};
    std::get<Array>(content_).push_back(std::move(value));
    return *this;
}

const Json* Json::find(std::string_view key) const {
    for (const auto& [name, value] : members()) {
        if (name == key) return &value;
    }
    return nullptr;
}

std::string Json::text(std::string_view key, std::string_view otherwise) const {
    const Json* value = find(key);
    const std::string* text = value ? value->as_text() : nullptr;
    return text ? *text : std::string(otherwise);
}

int64_t Json::number(std::string_view key, int64_t otherwise) const {
    const Json* value = find(key);
    const int64_t* number = value ? value->as_number() : nullptr;
    return number ? *number : otherwise;
}

bool Json::truth(std::string_view key, bool otherwise) const {
    const Json* value = find(key);
    const bool* truth = value ? value->as_truth() : nullptr;
    return truth ? *truth : otherwise;
}

const Json::Array& Json::items() const {
    static const Array kEmpty;
    const Array* array = std::get_if<Array>(&content_);
    return array ? *array : kEmpty;
}

const Json::Array& Json::items(std::string_view key) const {
    static const Array kEmpty;
    const Json* value = find(key);
    return value ? value->items() : kEmpty;
}

const Json::Object& Json::members() const {
    static const Object kEmpty;
    const Object* object = std::get_if<Object>(&content_);
    return object ? *object : kEmpty;
}

std::string Json::dump(int indent) const {
    return to_library(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

Result<Json> Json::parse(std::string_view text) {
    try {
        return from_library(Library::parse(text));
    } catch (const nlohmann::json::exception& problem) {
        return Error{.what = std::string("not valid JSON: ") + problem.what()};
    }
}

}  // namespace base
