// SPDX-License-Identifier: MIT
#include "credentials/json_place.h"

#include <algorithm>

#include "base/encoding/json.h"
#include "base/text.h"

namespace credentials {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// The text was read by base::Json before, so its structure is correct.
class Walk {
  public:
    explicit Walk(std::string_view text) : text_(text) {}

    void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }
    void skip_value() {
        skip_blanks();
        if (peek() == '"') return skip_string();
        int depth = 0;
        while (at_ < text_.size()) {
            const char letter = peek();
            if (letter == '"') {
                skip_string();
                continue;
            }
            if (depth == 0 && (letter == ',' || letter == '}' || letter == ']')) return;
            if (letter == '{' || letter == '[') ++depth;
            ++at_;
            if ((letter == '}' || letter == ']') && --depth == 0) return;
        }
    }
    // At the start of an object. True: it has this key, and the walk is at the last value of it. False: at
    // the place where a key can be added.
    bool enter(const std::string& key) {
        const size_t start = ++at_;
        std::optional<size_t> found;
        for (;;) {
            skip_blanks();
            if (at_ >= text_.size() || peek() == '}') break;
            if (peek() == ',') {
                ++at_;
                continue;
            }
            const size_t from = at_;
            skip_string();
            const base::Result<base::Json> name = base::Json::parse(text_.substr(from, at_ - from));
            at_ = std::min(text_.find(':', at_), text_.size() - 1) + 1;
            skip_blanks();
            if (name && name->as_text() != nullptr && *name->as_text() == key) found = at_;
            skip_value();
        }
        at_ = found.value_or(start);
        return found.has_value();
    }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    size_t at() const { return at_; }

  private:
    void skip_string() {
        for (++at_; at_ < text_.size() && peek() != '"'; ++at_) {
            if (peek() == '\\') ++at_;
        }
        at_ = std::min(at_ + 1, text_.size());
    }

    std::string_view text_;
    size_t at_ = 0;
};

bool is_object(std::string_view text) {
    const base::Result<base::Json> json = base::Json::parse(text);
    return json && json->is_object();
}

}  // namespace

std::optional<JsonPlace> find_in_json(std::string_view text, std::span<const std::string> keys) {
    if (keys.empty() || !is_object(text)) return std::nullopt;
    Walk walk(text);
    walk.skip_blanks();
    for (const std::string& key : keys) {
        if (walk.peek() != '{' || !walk.enter(key)) return std::nullopt;
    }
    JsonPlace place{.at = walk.at(), .size = 0, .text = {}};
    walk.skip_value();
    place.size = walk.at() - place.at;
    const base::Result<base::Json> value = base::Json::parse(text.substr(place.at, place.size));
    if (value && value->as_text() != nullptr) place.text = *value->as_text();
    return place;
}

std::optional<std::string> with_json_value(std::string_view text, std::span<const std::string> keys,
                                           std::string_view value) {
    if (base::trim(text).empty()) text = "{}";
    if (keys.empty() || !is_object(text)) return std::nullopt;
    std::string changed(text);
    if (std::optional<JsonPlace> place = find_in_json(text, keys)) {
        changed.replace(place->at, place->size, value);
        return changed;
    }
    Walk walk(text);
    walk.skip_blanks();
    size_t known = 0;
    while (walk.peek() == '{' && walk.enter(keys[known])) ++known;
    const size_t at = walk.at();
    const bool is_inside = at > 0 && text[at - 1] == '{';
    if (!is_inside) return std::nullopt;
    std::string added(value);
    for (size_t i = keys.size(); i-- > known;) {
        added = base::Json(keys[i]).dump(-1) + ": " + added;
        if (i > known) added = "{" + added + "}";
    }
    const bool is_empty =
        text.substr(std::min(text.find_first_not_of(kBlanks, at), text.size())).starts_with('}');
    changed.insert(at, is_empty ? added : added + ", ");
    return changed;
}

}  // namespace credentials
