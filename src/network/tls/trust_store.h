// SPDX-License-Identifier: MIT
// Files of root certificates for programs in the jail, as bytes: the bundle of the host plus the session's
// root, and Java's trust store (JKS), which needs no Java to write.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace network::tls {

// The certificates of a PEM text as DER. A block that is not base64 is skipped.
std::vector<std::string> certificates_in_pem(std::string_view pem);

// `bundle` and the root behind it, each with its line end.
std::string with_root(std::string_view bundle, std::string_view root_pem);

// A JKS trust store with the usual password "changeit". Java reads this format in every release.
std::string java_trust_store(const std::vector<std::string>& certificates, std::time_t now);

}  // namespace network::tls
