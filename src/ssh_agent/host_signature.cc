// SPDX-License-Identifier: MIT
#include "ssh_agent/host_signature.h"

#include "network/tls/signature.h"
#include "ssh_agent/message.h"

namespace ssh_agent {
namespace {

using network::tls::Curve;
using network::tls::RsaHash;
using network::wire::Cursor;

// Positive numbers have a zero byte before them if their first bit is set (RFC 4251, section 5).
std::string_view without_zeros(std::string_view number) {
    while (number.starts_with('\0')) number.remove_prefix(1);
    return number;
}

struct CurveRow {
    std::string_view type, name;
    Curve curve;
};
constexpr CurveRow kCurves[] = {{"ecdsa-sha2-nistp256", "nistp256", Curve::p256},
                                {"ecdsa-sha2-nistp384", "nistp384", Curve::p384},
                                {"ecdsa-sha2-nistp521", "nistp521", Curve::p521}};

bool is_signed_on(const CurveRow& row, Cursor key, std::string_view data, std::string_view signature) {
    std::string_view name = string_of(key), point = string_of(key);
    Cursor pair(signature);
    std::string_view r = string_of(pair), s = string_of(pair);
    return key.is_spent() && pair.is_spent() && name == row.name &&
           network::tls::is_signed_ecdsa(
               data, {.curve = row.curve, .point = point, .r = without_zeros(r), .s = without_zeros(s)});
}

bool is_signed_with_rsa(Cursor key, std::string_view kind, std::string_view data,
                        std::string_view signature) {
    std::string_view exponent = string_of(key), modulus = string_of(key);
    bool is_sha256 = kind == "rsa-sha2-256", is_sha512 = kind == "rsa-sha2-512";
    return key.is_spent() && (is_sha256 || is_sha512) &&
           network::tls::is_signed_rsa(data, {.hash = is_sha256 ? RsaHash::sha256 : RsaHash::sha512,
                                              .exponent = without_zeros(exponent),
                                              .modulus = without_zeros(modulus),
                                              .bytes = signature});
}

}  // namespace

bool is_signed_by(std::string_view host_key, std::string_view data, std::string_view signature) {
    Cursor key(host_key), signed_with(signature);
    std::string_view type = string_of(key);
    std::string_view kind = string_of(signed_with), bytes = string_of(signed_with);
    if (!signed_with.is_spent()) return false;
    if (type == "ssh-ed25519") {
        std::string_view point = string_of(key);
        return kind == type && key.is_spent() && network::tls::is_signed_ed25519(data, point, bytes);
    }
    for (const CurveRow& row : kCurves)
        if (type == row.type) return kind == type && is_signed_on(row, key, data, bytes);
    return type == "ssh-rsa" && is_signed_with_rsa(key, kind, data, bytes);
}

}  // namespace ssh_agent
