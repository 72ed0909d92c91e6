// SPDX-License-Identifier: MIT
// Verifies the signature of a host over a session id, as session-bind@openssh.com carries it: Ed25519, ECDSA
// on the three NIST curves, and RSA with SHA-2. Every other kind counts as false.
#pragma once

#include <string_view>

namespace ssh_agent {

bool is_signed_by(std::string_view host_key, std::string_view data, std::string_view signature);

}  // namespace ssh_agent
