// SPDX-License-Identifier: MIT
// The keys of sandbox-runtime: which part of the importer reads one, or why it is left out.
#pragma once

#include <string_view>

namespace config {

enum class SrtPart {
    section,  // an object with keys of its own
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
    switched_off,  // left out where it is true; false says what is so anyway
    left_out,
};

struct SrtKey {
    std::string_view path;  // "network.allowedDomains"
    SrtPart part;
    std::string_view reason;
};

// Null for a key that is not known.
const SrtKey* find_srt_key(std::string_view path);

// Whether a key at the top of a file makes it one of these.
bool is_srt_section(std::string_view key);

}  // namespace config
