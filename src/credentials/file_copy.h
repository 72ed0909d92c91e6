// SPDX-License-Identifier: MIT
// The copy of a user's file that the jail gets in its place: the fields of credentials hold placeholders, and
// everything else that may be a secret is left out. Pure.
//
// A field is written as
//
//   a.b."c.d".e        keys of a file NAME.json; * stands for every key
//   [SECTION] KEY      a key of a section, as in .pypirc
//   KEY                a key before every section, as in .npmrc; it is added if the file lacks it
//   pattern REGEX      the first group, in each line that matches
//   basic FIELD        the field holds base64 of USER:VALUE, as in docker's file
//
// Threat: the file holds other secrets than the credential's, for instance the token of another registry. A
// text is copied only if neither its key nor its form could be one. Tests:
// tests/credentials/file_copy_test.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace credentials {

struct FileField {
    enum class Kind { key, pattern };
    Kind kind = Kind::key;
    bool is_basic = false;
    std::vector<std::string> keys;  // of JSON; empty: the field names no keys of JSON
    std::string section, key;       // of lines "KEY = VALUE"
    std::string pattern;
};
base::Result<FileField> parse_file_field(std::string_view text);

struct FilledField {
    FileField field;
    std::string placeholder;
    bool is_shown = false;  // not a secret: stays as it is
};

// `name` is the last part of the file's path. Nothing: no field is in the file and none can be added, or the
// file can't be read as what its name promises.
struct FileCopy {
    std::string text;
    std::string fields_alone;  // of a file with lines: only those with placeholders
};
// The text of the field in such a file; nothing if the file does not have it.
std::optional<std::string> text_of_field(std::string_view name, const std::string& content,
                                         const FileField& field);

std::optional<FileCopy> copy_with_placeholders(std::string_view name, std::string_view content,
                                               std::span<const FilledField> fields);

}  // namespace credentials
