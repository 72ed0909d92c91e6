// SPDX-License-Identifier: MIT
#include "network/tls/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdlib>

#include "network/tls/authority.h"

namespace network::tls {

struct Sha256::Context {
    struct Free {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> digest{EVP_MD_CTX_new()};
};

std::string to_hexadecimal(const Digest256& digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (uint8_t byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

// These calls fail only without memory: a hash that is not right must not be compared or sent.
Sha256::Sha256() {
    start_library();
    context_ = std::make_unique<Context>();
    if (EVP_DigestInit_ex(context_->digest.get(), EVP_sha256(), nullptr) != 1) std::abort();
}

Sha256::~Sha256() = default;

Sha256& Sha256::update(std::string_view bytes) {
    if (EVP_DigestUpdate(context_->digest.get(), bytes.data(), bytes.size()) != 1) std::abort();
    return *this;
}

std::string Sha256::hexadecimal() {
    Digest256 digest{};
    unsigned int size = digest.size();
    if (EVP_DigestFinal_ex(context_->digest.get(), digest.data(), &size) != 1) std::abort();
    return to_hexadecimal(digest);
}

std::string sha256_of(std::string_view bytes) {
    return Sha256().update(bytes).hexadecimal();
}

Digest256 hmac_sha256(std::string_view key, std::string_view text) {
    start_library();
    Digest256 digest{};
    unsigned int size = digest.size();
    const unsigned char* made =
        HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
    if (made == nullptr) std::abort();
    return digest;
}

}  // namespace network::tls
