// SPDX-License-Identifier: MIT
#include "credentials/login_file.h"

#include <ctime>

#include "base/encoding/base64.h"
#include "base/encoding/json.h"
#include "base/text.h"
#include "credentials/json_place.h"

namespace credentials {
namespace {

using base::Json;

constexpr MovedFile kMovedFiles[] = {
    {".docker/config.json", "DOCKER_CONFIG", "config.json"},
    {".config/containers/auth.json", "REGISTRY_AUTH_FILE", ""},
    {".npmrc", "NPM_CONFIG_USERCONFIG", ""},
    {".npmrc", "npm_config_userconfig", ""},
    {".config/gh/hosts.yml", "GH_CONFIG_DIR", "hosts.yml"},
    {".config/glab-cli/config.yml", "GLAB_CONFIG_DIR", "config.yml"},
    {".netrc", "NETRC", ""},
    {".claude/.credentials.json", "CLAUDE_CONFIG_DIR", ".credentials.json"},
    {".codex/auth.json", "CODEX_HOME", "auth.json"},
};

struct KindName {
    std::string_view name;
    StoredField::Kind kind;
};
constexpr KindName kKinds[] = {
    {"milliseconds", StoredField::Kind::milliseconds},
    {"time", StoredField::Kind::time},
    {"words", StoredField::Kind::words},
    {"scope", StoredField::Kind::scope},
    {"claim", StoredField::Kind::claim},
    {"text", StoredField::Kind::text},
};

std::string time_text(int64_t milliseconds) {
    std::time_t seconds = milliseconds / 1000;
    struct tm parts = {};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    const std::string rest = std::to_string(1000 + milliseconds % 1000).substr(1);
    return base::format("{}.{}Z", std::string_view(text, size), rest);
}

// A claim of a JSON Web Token, as JSON.
std::optional<std::string> claim_of(const base::SecretValue& token, std::span<const std::string> keys) {
    std::string coded = token.reveal([](std::string_view text) {
        size_t first = text.find('.'), last = text.rfind('.');
        return first == last ? std::string() : std::string(text.substr(first + 1, last - first - 1));
    });
    for (char& letter : coded) {
        if (letter == '-') letter = '+';
        if (letter == '_') letter = '/';
    }
    while (coded.size() % 4 != 0) coded += '=';
    std::optional<std::string> claims = base::from_base64(coded);
    std::optional<JsonPlace> place = claims ? find_in_json(*claims, keys) : std::nullopt;
    return place ? std::optional(claims->substr(place->at, place->size)) : std::nullopt;
}

// The value as JSON; nothing: the field stays.
std::optional<std::string> json_of(const StoredField& stored, const base::SecretValue& token,
                                   const Issue& issue) {
    switch (stored.kind) {
        case StoredField::Kind::milliseconds:
            if (issue.expires_in <= 0) return std::nullopt;
            return std::to_string(issue.now + issue.expires_in * 1000);
        case StoredField::Kind::time:
            return Json(time_text(issue.now)).dump(-1);
        case StoredField::Kind::words: {
            if (issue.scope.empty()) return std::nullopt;
            Json list = Json::array();
            for (std::string_view word : base::split(issue.scope, ' ')) list.push(Json(word));
            return list.dump(-1);
        }
        case StoredField::Kind::scope:
            if (issue.scope.empty()) return std::nullopt;
            return Json(issue.scope).dump(-1);
        case StoredField::Kind::claim:
            return claim_of(token, stored.claim);
        case StoredField::Kind::text:
            return Json(stored.text).dump(-1);
    }
    return std::nullopt;
}

bool is_for_new_file(StoredField::Kind kind) {
    return kind == StoredField::Kind::claim || kind == StoredField::Kind::text;
}

// Replaces `content`, and overwrites the old text: it has tokens.
bool set(std::string& content, std::span<const std::string> keys, const std::string& value) {
    std::optional<std::string> changed = with_json_value(content, keys, value);
    if (!changed) return false;
    base::wipe(content);
    content = *std::move(changed);
    return true;
}

}  // namespace

base::Result<StoredField> parse_stored_field(std::string_view text) {
    const base::Error fault{
        .what = base::format("'{}' is not a field and its kind", base::printable(text)),
        .advice = "write FIELD = milliseconds, time, words, scope, claim NAME or text TEXT"};
    size_t sign = text.find(" = ");
    if (sign == std::string_view::npos) return fault;
    base::Result<FileField> field = parse_file_field(base::trim(text.substr(0, sign)));
    if (!field) return field.error();
    std::string_view rest = base::trim(text.substr(sign + 3));
    size_t blank = std::min(rest.find(' '), rest.size());
    StoredField stored{
        .field = *std::move(field), .text = std::string(base::trim(rest.substr(blank))), .claim = {}};
    for (const KindName& known : kKinds) {
        if (rest.substr(0, blank) != known.name) continue;
        stored.kind = known.kind;
        if (is_for_new_file(known.kind) == stored.text.empty()) return fault;
        if (known.kind != StoredField::Kind::claim) return stored;
        base::Result<FileField> claim = parse_file_field(stored.text);
        if (!claim || claim->keys.empty()) return fault;
        stored.claim = std::move(claim->keys);
        return stored;
    }
    return fault;
}

std::optional<std::string> with_new_values(std::string content, std::span<const NewValue> values,
                                           const Issue& issue) {
    for (const NewValue& one : values) {
        std::string text = one.value->reveal([](std::string_view bytes) { return Json(bytes).dump(-1); });
        const bool is_set = set(content, one.field->keys, text);
        base::wipe(text);
        if (!is_set) return std::nullopt;
        for (const StoredField& stored : one.stores) {
            bool is_there = find_in_json(content, stored.field.keys).has_value();
            if (is_for_new_file(stored.kind) && is_there) continue;
            std::optional<std::string> value = json_of(stored, *one.value, issue);
            if (value && !set(content, stored.field.keys, *value)) return std::nullopt;
        }
    }
    return content;
}

std::span<const MovedFile> moved_files() {
    return kMovedFiles;
}

std::string own_file(std::string_view usual, std::string_view home,
                     std::span<const std::string> environment) {
    std::string_view relative = usual.substr(usual.starts_with("~/") ? 2 : 0);
    for (const MovedFile& moved : kMovedFiles) {
        if (relative != moved.relative) continue;
        for (std::string_view assignment : environment) {
            bool is_named = assignment.starts_with(moved.variable) &&
                            assignment.substr(moved.variable.size()).starts_with("=/");
            if (!is_named) continue;
            std::string path(assignment.substr(moved.variable.size() + 1));
            return moved.name.empty() ? path : base::format("{}/{}", path, moved.name);
        }
    }
    return base::format("{}/{}", home, relative);
}

}  // namespace credentials
