// SPDX-License-Identifier: MIT
#include "network/tls/authority.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>

#include "base/parse.h"
#include "base/text.h"

namespace network::tls {
namespace {

using base::Error;
using base::Result;

constexpr long kDay = 86400;
constexpr long kBefore = 3600;  // clocks of clients differ
constexpr int kSerialBits = 120;

Error failure(std::string_view what) {
    return Error{.what = base::format("cannot {}: {}", what, take_library_error()), .advice = ""};
}

// A host name in normal form has no character that is special in the text of an extension.
bool is_plain_name(std::string_view name) {
    return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, [](char letter) {
        bool is_lower = letter >= 'a' && letter <= 'z';
        return is_lower || base::is_digit(letter) || letter == '-' || letter == '.' || letter == '_';
    });
}

bool add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    bool is_added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return is_added;
}

bool set_serial(X509* certificate) {
    BIGNUM* number = BN_new();
    bool is_set = number != nullptr &&
                  BN_rand(number, kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
    BN_free(number);
    return is_set;
}

// The part that all three kinds share.
struct Draft {
    std::string subject;
    EVP_PKEY* key;
    X509* issuer;  // null: the certificate signs itself
    EVP_PKEY* issuer_key;
    std::time_t now;
    long days;
};

struct ExtensionRow {
    int kind;
    std::string value;
};

Certificate make_certificate(const Draft& draft, const std::vector<ExtensionRow>& extensions) {
    Certificate made(X509_new());
    X509* certificate = made.get();
    if (certificate == nullptr || X509_set_version(certificate, X509_VERSION_3) != 1) return nullptr;
    std::time_t start = draft.now - kBefore, end = draft.now + draft.days * kDay;
    // A leaf must not end after its issuer.
    bool has_times = ASN1_TIME_set(X509_getm_notBefore(certificate), start) != nullptr &&
                     ASN1_TIME_set(X509_getm_notAfter(certificate), end) != nullptr;
    if (draft.issuer != nullptr &&
        ASN1_TIME_compare(X509_get0_notAfter(draft.issuer), X509_get0_notAfter(certificate)) < 0)
        has_times &= X509_set1_notAfter(certificate, X509_get0_notAfter(draft.issuer)) == 1;
    X509* issuer = draft.issuer != nullptr ? draft.issuer : certificate;
    X509_NAME* name = X509_get_subject_name(certificate);
    const auto* text = reinterpret_cast<const unsigned char*>(draft.subject.c_str());
    bool is_filled = has_times && set_serial(certificate) && X509_set_pubkey(certificate, draft.key) == 1 &&
                     X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1 &&
                     X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1;
    if (!is_filled) return nullptr;
    for (const ExtensionRow& row : extensions) {
        if (!add_extension(certificate, issuer, row.kind, row.value)) return nullptr;
    }
    return X509_sign(certificate, draft.issuer_key, EVP_sha256()) > 0 ? std::move(made) : nullptr;
}

}  // namespace

void FreeKey::operator()(EVP_PKEY* key) const {
    EVP_PKEY_free(key);
}

void FreeCertificate::operator()(X509* certificate) const {
    X509_free(certificate);
}

void start_library() {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    ERR_clear_error();
}

std::string take_library_error() {
    unsigned long code = ERR_get_error();
    ERR_clear_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "OpenSSL gives no reason" : reason;
}

Result<SessionRoot> SessionRoot::make(std::time_t now) {
    start_library();
    SessionRoot root;
    root.key_.reset(EVP_EC_gen("P-256"));
    if (!root.key_) return failure("make the key of the session's root");
    root.certificate_ = make_certificate(
        {"agent-sandbox session root", root.key_.get(), nullptr, root.key_.get(), now, kRootDays},
        {{NID_basic_constraints, "critical,CA:TRUE,pathlen:1"},
         {NID_key_usage, "critical,keyCertSign,cRLSign"},
         {NID_subject_key_identifier, "hash"},
         {NID_authority_key_identifier, "keyid:always"}});
    if (!root.certificate_) return failure("make the session's root certificate");
    return root;
}

std::string SessionRoot::pem() const {
    return pem_of(*certificate_);
}

std::string SessionRoot::link_name() const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    unsigned long hash = X509_subject_name_hash(certificate_.get());
    std::string name;
    for (int shift = 28; shift >= 0; shift -= 4) name += kDigits[hash >> shift & 15];
    return name + ".0";
}

Result<Intermediate> SessionRoot::issue(std::span<const std::string> names, std::time_t now) const {
    ERR_clear_error();
    if (names.empty() || names.size() > kMaximumNames)
        return Error{.what = base::format("an intermediate certificate is for 1 to {} names, not {}",
                                          kMaximumNames, names.size()),
                     .advice = "name fewer hosts in requests and credentials"};
    std::string constraints = "critical";
    for (const std::string& name : names) {
        if (!is_plain_name(name))
            return Error{
                .what = base::format("'{}' is not a host name for a certificate", base::printable(name))};
        constraints += ",permitted;DNS:" + name;
    }
    // Constraints on names alone would leave addresses open.
    constraints += ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";
    Key key(EVP_EC_gen("P-256"));
    if (!key) return failure("make the key of the intermediate certificate");
    Certificate made = make_certificate({"agent-sandbox session intermediate", key.get(), certificate_.get(),
                                         key_.get(), now, kIntermediateDays},
                                        {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                         {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                         {NID_subject_key_identifier, "hash"},
                                         {NID_authority_key_identifier, "keyid:always"},
                                         {NID_name_constraints, constraints}});
    if (!made) return failure("make the intermediate certificate");
    Intermediate intermediate{.certificate = pem_of(*made), .key = {}};
    unsigned char* bytes = nullptr;
    int size = i2d_PrivateKey(key.get(), &bytes);
    if (size <= 0) return failure("write the key of the intermediate certificate");
    intermediate.key.append({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
    OPENSSL_clear_free(bytes, static_cast<size_t>(size));
    return intermediate;
}

// Each part has its length before it.
base::SecretValue encode(const Intermediate& intermediate) {
    base::SecretValue bytes;
    auto add = [&](std::string_view part) {
        const auto size = static_cast<uint32_t>(part.size());
        bytes.append({reinterpret_cast<const char*>(&size), sizeof size}).append(part);
    };
    add(intermediate.certificate);
    intermediate.key.reveal(add);
    return bytes;
}

Result<Intermediate> decode_intermediate(std::string_view bytes) {
    auto next = [&]() -> std::string_view {
        uint32_t size = 0;
        if (bytes.size() < sizeof size) return {};
        std::memcpy(&size, bytes.data(), sizeof size);
        bytes.remove_prefix(sizeof size);
        std::string_view part = bytes.substr(0, size);
        bytes.remove_prefix(part.size());
        return part.size() == size ? part : std::string_view();
    };
    Intermediate intermediate{.certificate = std::string(next()), .key = {}};
    intermediate.key.append(next());
    if (!intermediate.certificate.empty() && !intermediate.key.is_empty()) return intermediate;
    return Error{.what = "the intermediate certificate came damaged"};
}

std::time_t LeafIssuer::end() const {
    struct tm end = {};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate_.get()), &end) != 1) return 0;
    return ::timegm(&end);
}

Result<LeafIssuer> LeafIssuer::make(const Intermediate& intermediate) {
    start_library();
    LeafIssuer issuer;
    issuer.certificate_ = certificate_of_pem(intermediate.certificate);
    if (!issuer.certificate_) return failure("read the intermediate certificate");
    intermediate.key.reveal([&](std::string_view bytes) {
        const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
        issuer.key_.reset(d2i_AutoPrivateKey(nullptr, &data, static_cast<long>(bytes.size())));
    });
    if (!issuer.key_ || X509_check_private_key(issuer.certificate_.get(), issuer.key_.get()) != 1)
        return failure("read the key of the intermediate certificate");
    issuer.leaf_key_.reset(EVP_EC_gen("P-256"));
    if (!issuer.leaf_key_) return failure("make the key of leaf certificates");
    return issuer;
}

Result<Certificate> LeafIssuer::leaf(std::string_view name, std::time_t now) const {
    ERR_clear_error();
    if (!is_plain_name(name))
        return Error{.what =
                         base::format("'{}' is not a host name for a certificate", base::printable(name))};
    // The name is in the extension alone: the common name has room for 64 bytes.
    Certificate made = make_certificate({"agent-sandbox session host", leaf_key_.get(), certificate_.get(),
                                         key_.get(), now, kIntermediateDays},
                                        {{NID_basic_constraints, "critical,CA:FALSE"},
                                         {NID_key_usage, "critical,digitalSignature"},
                                         {NID_ext_key_usage, "serverAuth"},
                                         {NID_subject_key_identifier, "hash"},
                                         {NID_authority_key_identifier, "keyid:always"},
                                         {NID_subject_alt_name, base::format("DNS:{}", name)}});
    if (!made) return failure("make a leaf certificate");
    return made;
}

std::string pem_of(const X509& certificate) {
    BIO* memory = BIO_new(BIO_s_mem());
    std::string text;
    if (memory != nullptr && PEM_write_bio_X509(memory, &certificate) == 1) {
        char* data = nullptr;
        long size = BIO_get_mem_data(memory, &data);
        text.assign(data, static_cast<size_t>(size));
    }
    BIO_free(memory);
    return text;
}

Certificate certificate_of_pem(std::string_view pem) {
    ERR_clear_error();
    BIO* memory = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    Certificate certificate(memory == nullptr ? nullptr
                                              : PEM_read_bio_X509(memory, nullptr, nullptr, nullptr));
    BIO_free(memory);
    return certificate;
}

}  // namespace network::tls
