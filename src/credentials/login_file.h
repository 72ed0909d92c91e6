// SPDX-License-Identifier: MIT
// The user's own file of a log-in, when a token endpoint has given new tokens: their fields, and those that
// depend on them, such as the time at which the token ends. Everything else stays as it is. Pure.
//
// A field that depends on them is written as FIELD = KIND:
//
//   milliseconds     when the token ends, since 1970
//   time             now, as 2026-01-31T12:00:00.000Z
//   words            the words of the answer's scope, as a list
//   scope            the same as one text
//   claim a."b.c"    a claim of the new token, where the file has no such field
//   text TEXT        this text, where the file has no such field
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"
#include "credentials/file_copy.h"

namespace credentials {

struct StoredField {
    enum class Kind { milliseconds, time, words, scope, claim, text };
    FileField field;
    Kind kind = Kind::milliseconds;
    std::string text;                // of text
    std::vector<std::string> claim;  // its keys
};
base::Result<StoredField> parse_stored_field(std::string_view text);

struct NewValue {
    const FileField* field;
    std::span<const StoredField> stores;
    const base::SecretValue* value;
};
// What the answer told beside the tokens, and when.
struct Issue {
    int64_t expires_in = 0;  // seconds; 0: not known
    std::string scope;
    int64_t now = 0;  // milliseconds since 1970
};
// The new content of a JSON file. An empty `content` is a file that is missing. Nothing: the file does not
// have the form that the fields expect.
std::optional<std::string> with_new_values(std::string content, std::span<const NewValue> values,
                                           const Issue& issue);

// The program of a log-in looks for its file elsewhere if the user's variable says so.
struct MovedFile {
    std::string_view relative;  // the usual path, in the home directory
    std::string_view variable;
    std::string_view name;  // in the directory; empty: the value is the path of the file
};
std::span<const MovedFile> moved_files();
// The user's file with this usual path ("~/PATH"), by the variables "NAME=value".
std::string own_file(std::string_view usual, std::string_view home, std::span<const std::string> environment);

}  // namespace credentials
