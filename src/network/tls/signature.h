// SPDX-License-Identifier: MIT
// Verifies signatures over given bytes with public keys in their plain form. Keys and signatures are
// untrusted: what OpenSSL does not accept, and RSA keys of other than usual sizes, count as false.
#pragma once

#include <string_view>

namespace network::tls {

enum class Curve { p256, p384, p521 };
enum class RsaHash { sha256, sha512 };

// The point is in its uncompressed form; r and s are unsigned numbers, most significant byte first.
struct EcdsaSignature {
    Curve curve = Curve::p256;
    std::string_view point, r, s;
};
// PKCS #1 version 1.5.
struct RsaSignature {
    RsaHash hash = RsaHash::sha512;
    std::string_view exponent, modulus, bytes;
};

bool is_signed_ed25519(std::string_view data, std::string_view key, std::string_view signature);
bool is_signed_ecdsa(std::string_view data, const EcdsaSignature& signature);
bool is_signed_rsa(std::string_view data, const RsaSignature& signature);

}  // namespace network::tls
