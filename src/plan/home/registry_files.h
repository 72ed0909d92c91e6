// SPDX-License-Identifier: MIT
// Copies of settings of package managers that name the site's registries and mirrors, beside passwords and
// tokens. A copy is written anew from an allow-list of keys with values of a plain form: anything else,
// comments included, is left out.
//
// Pure. When in doubt a line is left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plan {

// The copy of a file of the home directory, by its path there (share/home/registries.list). Nothing if the
// path is not one of these, or if nothing of the file can be shown.
std::optional<std::string> registry_settings(std::string_view relative, std::string_view content);

// Whether the text is the URL of a server without a user, a password, a query, a variable, or a part of its
// path that looks like a token.
bool is_plain_url(std::string_view text);

std::string npm_settings(std::string_view npmrc);
std::string pip_settings(std::string_view pip_conf);
// Nothing if the text is not well-formed, or declares entities.
std::optional<std::string> maven_settings(std::string_view settings_xml);

}  // namespace plan
