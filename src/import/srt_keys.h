// SPDX-License-Identifier: MIT
// The keys of sandbox-runtime: the part of the importer that reads each key, or why it is left out.
#pragma once

#include <string_view>

namespace config {

enum class SrtPart {
    section,  // an object with its own keys
    allowed_domains,
    denied_domains,
    denied_addresses,
    parent_proxy,
    deny_read,
    allow_read,
    allow_write,
    deny_write,
    git_config,
    credential_files,
    credential_variables,
    switched_off,  // left out if true; false is the behaviour here anyway
    left_out,
};

struct SrtKey {
    std::string_view path;  // "network.allowedDomains"
    SrtPart part;
    std::string_view reason;
};

// Null for an unknown key.
const SrtKey* find_srt_key(std::string_view path);

// Whether this top-level key marks a file of sandbox-runtime.
bool is_srt_section(std::string_view key);

}  // namespace config
