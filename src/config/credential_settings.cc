// SPDX-License-Identifier: MIT
// The keys of [credential.NAME] and of the presets in share/credentials.
#include <algorithm>

#include "base/parse.h"
#include "config/settings.h"

namespace config {
namespace {

using enum Type;
using enum Order;

constexpr bool kFixedForSession = false;
constexpr size_t kMaximumName = 63;  // a label of a host name

constexpr Setting kCredentialSettings[] = {
    {"title", text, neutral, "", "", "", kFixedForSession, "the credential's name for people"},
    {"hosts", text_list, neutral, "", "", "", kFixedForSession,
     "the hosts that get the value, each with an optional port"},
    {"put", text, neutral, "", "", "", kFixedForSession,
     "the field that gets the value: bearer, header NAME [FORMAT], basic USER, query NAME, git, path "
     "/bot{}/, sigv4 (AWS) or body NAME; several with ' or ' between them"},
    {"when", choice, neutral, "", "swap|always", "swap", kFixedForSession,
     "swap replaces the placeholder that a client sent; always also adds the value where it sent nothing"},
    {"paths", text_list, neutral, "", "", "", kFixedForSession,
     "the paths that the value is for: HOST/PATH or /PATH"},
    {"methods", text_list, neutral, "", "", "", kFixedForSession, "the methods that the value is for"},
    {"scope", text_list, neutral, "", "", "", kFixedForSession,
     "with put = \"sigv4\": REGION/SERVICE that may be signed for; * is any"},
    {"variable", text, neutral, "", "", "", kFixedForSession,
     "variables that hold the placeholder, separated by blanks; NAME=TEXT sets a variable that clients need "
     "beside it"},
    {"files", path_list, neutral, "", "", "", kFixedForSession,
     "files of the home directory of which the jail gets a copy with placeholders"},
    {"fields", text_list, neutral, "", "", "", kFixedForSession,
     "the fields of these files that hold the value: keys of JSON (a.b), KEY, [SECTION] KEY or pattern REGEX "
     "with a group; 'basic ' before it if the field holds base64 of USER:VALUE"},
    {"shown", text_list, neutral, "", "", "", kFixedForSession,
     "fields of these files that look like a secret and are not: the copy has them as they are"},
    {"issues", text_list, neutral, "", "", "", kFixedForSession,
     "requests whose answers have a new value, as \"POST HOST/PATH FIELD\"; with a source that is one of "
     "files, "
     "the new value is written to that file"},
    {"stores", text_list, neutral, "", "", "", kFixedForSession,
     "further fields of the file that a new value changes: FIELD = milliseconds, time, words, scope, claim "
     "NAME or text TEXT"},
    {"lock", choice, neutral, "", "file|directory", "file", kFixedForSession,
     "what an agent outside locks while it renews a log-in: the file, or its directory"},
    {"shape", text, neutral, "", "", "", kFixedForSession, "the form of the placeholder, such as ghp_{36}"},
    {"from_command", text_list, neutral, "", "", "", kFixedForSession,
     "the source: a command and its arguments"},
    {"from_file", path, neutral, "", "", "", kFixedForSession, "the source: a file"},
    {"from_env", text, neutral, "", "", "", kFixedForSession,
     "the source: a variable of the launching shell"},
    {"from_keyring", text_list, neutral, "", "", "", kFixedForSession,
     "the source: ATTRIBUTE=VALUE of the desktop's keyring"},
    {"lifetime", duration, neutral, "", "", "", kFixedForSession, "get the value again after this time"},
    {"git_rewrite", boolean, neutral, "", "", "false", kFixedForSession,
     "rewrite ssh remotes of these hosts to HTTPS"},
    {"base_url", text, neutral, "", "", "", kFixedForSession,
     "the variable for a client's base URL, and after '=' the path that it needs"},
    {"probe", text, neutral, "", "", "", kFixedForSession,
     "the harmless request of 'secret test': METHOD HOST/PATH"},
};

}  // namespace

std::span<const Setting> credential_settings() {
    return kCredentialSettings;
}

bool is_credential_name(std::string_view name) {
    return !name.empty() && name.size() <= kMaximumName && name.front() != '-' &&
           std::ranges::all_of(name, [](char letter) {
               bool is_lower = letter >= 'a' && letter <= 'z';
               return is_lower || base::is_digit(letter) || letter == '-' || letter == '_';
           });
}

}  // namespace config
