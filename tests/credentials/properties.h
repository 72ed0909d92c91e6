// SPDX-License-Identifier: MIT
// Properties of presets, shapes and copies of files for any bytes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "credentials/credential.h"
#include "credentials/file_copy.h"
#include "credentials/login_file.h"

namespace credentials {

inline const char* broken_for_shape(std::string_view text) {
    auto shape = Shape::parse(text);
    if (!shape)
        return shape.error().line().find('\n') == std::string::npos ? nullptr : "a message spans lines";
    if (shape->bits() < kMinimumBits) return "a shape has too few random bits";
    if (shape->is_jwt()) return nullptr;
    uint8_t counter = 0;
    std::string made = shape->make([&](std::span<uint8_t> bytes) {
        for (uint8_t& byte : bytes) byte = counter++;
    });
    if (made.size() > kMaximumPlaceholder) return "a placeholder is too long";
    if (std::ranges::count(made, ' ') != (shape->is_pair() ? 1 : 0))
        return "a placeholder has a blank too many";
    for (char letter : made) {
        if (letter < ' ' || letter > '~' || letter == '"' || letter == '\\')
            return "a placeholder would end a field";
    }
    base::SecretValue value;
    value.append(made);
    return shape->fits(value) ? nullptr : "a placeholder does not fit its own shape";
}

inline const char* broken_for_preset(std::string_view text) {
    auto values = parse_credential_file(config::Layer::user, "file.toml", text);
    if (!values)
        return values.error().line().find('\n') == std::string::npos ? nullptr : "a message spans lines";
    auto made = make_credential("name", {}, *values);
    if (!made) return made.error().line().find('\n') == std::string::npos ? nullptr : "a message spans lines";
    if (made->hosts.empty() || made->puts.empty()) return "a credential is for no host or no field";
    if (made->probe && !made->binding("").is_for(made->probe->host, 443) &&
        made->hosts.front().port == std::nullopt)
        return "a probe goes to another host";
    return nullptr;
}

// A user's file, as JSON and as lines.
inline const char* broken_for_file_copy(std::string_view content) {
    constexpr size_t kLongestWord = 40;
    std::vector<FilledField> fields;
    for (const char* text : {"token", "[a] password", "pattern x=([^ ]+)", "basic auths.*.auth"})
        fields.push_back({*parse_file_field(text), "PLACEHOLDER"});
    for (const char* name : {"file.json", ".file"}) {
        auto copy = copy_with_placeholders(name, content, fields);
        if (!copy) continue;
        if (copy->text.find("PLACEHOLDER") == std::string::npos &&
            copy->text.find("UExBQ0VIT0xERV") == std::string::npos &&
            copy->text.find("BMQUNFSE9MREVS") == std::string::npos &&
            copy->text.find("QTEFDRUhPTERFUg") == std::string::npos)
            return "a copy has no placeholder";
        size_t run = 0;
        for (char letter : copy->text) {
            run = base::is_letter(letter) || base::is_digit(letter) ? run + 1 : 0;
            // The user of "basic" may be long; its base64 is shown.
            if (run > kLongestWord && copy->text.find("\"auth\"") == std::string::npos)
                return "a copy has a text that may be a token";
        }
    }
    return nullptr;
}

// The user's file of a log-in gets the token at its keys, and stays JSON.
inline const char* broken_for_login_file(std::string_view content) {
    const FileField field = *parse_file_field("login.token");
    const std::vector<StoredField> stores = {*parse_stored_field("login.ends = milliseconds"),
                                             *parse_stored_field("scopes = words")};
    base::SecretValue value;
    value.append("a-new-token-0123456789");
    const NewValue values[] = {{&field, stores, &value}};
    const Issue issue{.expires_in = 60, .scope = "a b", .now = 1000};
    const std::optional<std::string> changed = with_new_values(std::string(content), values, issue);
    if (!changed) return nullptr;
    const base::Result<base::Json> json = base::Json::parse(*changed);
    if (!json) return "the file is not JSON any more";
    const std::optional<std::string> read = text_of_field("file.json", *changed, field);
    return read && *read == "a-new-token-0123456789" ? nullptr : "the token is not at its keys";
}

}  // namespace credentials
