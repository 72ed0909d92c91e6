// SPDX-License-Identifier: MIT
#include "network/tls/signature.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <memory>
#include <string>

#include "network/tls/authority.h"

namespace network::tls {
namespace {

constexpr size_t kEd25519Key = 32, kEd25519Signature = 64;
constexpr size_t kLargestNumber = 66;                                                // of P-521
constexpr size_t kLeastModulus = 128, kLargestModulus = 2048, kLargestExponent = 8;  // bytes

template <auto function>
struct Free {
    void operator()(auto* object) const { function(object); }
};
using Context = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Free<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Free<OSSL_PARAM_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(std::string_view bytes) {
    return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

Key key_of(const char* kind, OSSL_PARAM* parameters) {
    EVP_PKEY* key = nullptr;
    Context context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
    bool is_made = context && parameters != nullptr && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                   EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters) == 1;
    return Key(is_made ? key : nullptr);
}

bool is_signed(std::string_view data, EVP_PKEY* key, const EVP_MD* hash, std::string_view signature) {
    Digest digest(EVP_MD_CTX_new());
    bool is_good =
        key != nullptr && digest && EVP_DigestVerifyInit(digest.get(), nullptr, hash, nullptr, key) == 1 &&
        EVP_DigestVerify(digest.get(), bytes_of(signature), signature.size(), bytes_of(data), data.size()) ==
            1;
    ERR_clear_error();
    return is_good;
}

struct CurveRow {
    const char* name;
    const EVP_MD* (*hash)();
    size_t point;
};

CurveRow row_of(Curve curve) {
    switch (curve) {
        case Curve::p256:
            return {"P-256", EVP_sha256, 65};
        case Curve::p384:
            return {"P-384", EVP_sha384, 97};
        case Curve::p521:
            return {"P-521", EVP_sha512, 133};
    }
    return {"", EVP_sha256, 0};
}

}  // namespace

bool is_signed_ed25519(std::string_view data, std::string_view key, std::string_view signature) {
    if (key.size() != kEd25519Key || signature.size() != kEd25519Signature) return false;
    start_library();
    Key made(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(key), key.size()));
    return is_signed(data, made.get(), nullptr, signature);
}

bool is_signed_ecdsa(std::string_view data, const EcdsaSignature& signature) {
    const CurveRow row = row_of(signature.curve);
    bool has_sizes = signature.point.size() == row.point && signature.point.front() == 4 &&
                     signature.r.size() <= kLargestNumber && signature.s.size() <= kLargestNumber;
    if (!has_sizes) return false;
    start_library();
    Builder builder(OSSL_PARAM_BLD_new());
    bool is_filled =
        builder &&
        OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, row.name, 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, signature.point.data(),
                                         signature.point.size()) == 1;
    if (!is_filled) return false;
    Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
    Key key = key_of("EC", parameters.get());
    Signature pair(ECDSA_SIG_new());
    Number r = number_of(signature.r), s = number_of(signature.s);
    // set0 takes both numbers; it fails only without one of them.
    if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.release(), s.release()) != 1) return false;
    unsigned char* encoded = nullptr;
    int size = i2d_ECDSA_SIG(pair.get(), &encoded);
    if (size <= 0) return false;
    std::string der(reinterpret_cast<const char*>(encoded), static_cast<size_t>(size));
    OPENSSL_free(encoded);
    return is_signed(data, key.get(), row.hash(), der);
}

bool is_signed_rsa(std::string_view data, const RsaSignature& signature) {
    bool has_sizes = signature.modulus.size() >= kLeastModulus &&
                     signature.modulus.size() <= kLargestModulus && !signature.exponent.empty() &&
                     signature.exponent.size() <= kLargestExponent &&
                     signature.bytes.size() == signature.modulus.size();
    if (!has_sizes) return false;
    start_library();
    Builder builder(OSSL_PARAM_BLD_new());
    Number modulus = number_of(signature.modulus), exponent = number_of(signature.exponent);
    bool is_filled = builder && modulus && exponent &&
                     OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) == 1 &&
                     OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) == 1;
    if (!is_filled) return false;
    Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
    Key key = key_of("RSA", parameters.get());
    const EVP_MD* hash = signature.hash == RsaHash::sha256 ? EVP_sha256() : EVP_sha512();
    return is_signed(data, key.get(), hash, signature.bytes);
}

}  // namespace network::tls
