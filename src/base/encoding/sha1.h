// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace base {

// SHA-1, 20 bytes. Only for formats that prescribe it: Java's trust store.
std::string sha1(std::string_view content);

// HMAC-SHA-1 (RFC 2104), 20 bytes. Only for formats that prescribe it: hashed names in ssh's known_hosts.
std::string hmac_sha1(std::string_view key, std::string_view message);

}  // namespace base
