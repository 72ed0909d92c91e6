// SPDX-License-Identifier: MIT
// The certificate authority of a session, in two levels of P-256 keys.
//
//   SessionRoot     in the supervisor, which reads no byte of the jail. Only this jail trusts it. 90 days.
//   intermediate    signed by the root, its key is in the gateway. Critical name constraints limit it to the
//                   intercepted names and the names below them, and exclude all addresses. 7 days.
//   leaf            signed by the intermediate at the first connection to its name
//
// Threat: the key of the intermediate is taken from a compromised gateway. It can't sign for another name.
// The constraints are on the intermediate, because Java 17 ignores constraints on a root. Every certificate
// has key identifiers, because Python 3.13 requires them. Tests: tests/tls/authority_test.cc.
#pragma once

#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"

struct evp_pkey_st;
struct x509_st;

namespace network::tls {

struct FreeKey {
    void operator()(evp_pkey_st* key) const;
};
struct FreeCertificate {
    void operator()(x509_st* certificate) const;
};
using Key = std::unique_ptr<evp_pkey_st, FreeKey>;
using Certificate = std::unique_ptr<x509_st, FreeCertificate>;

constexpr long kRootDays = 90;
constexpr long kIntermediateDays = 7;
constexpr size_t kMaximumNames = 256;

// Without OpenSSL's configuration file. Safe to call again; every class here does.
void start_library();
// The first error of OpenSSL's queue, which is empty afterwards.
std::string take_library_error();

// What the supervisor sends to the gateway.
struct Intermediate {
    std::string certificate;  // PEM
    base::SecretValue key;    // PKCS #8, DER
};
// For a memory file that another process reads.
base::SecretValue encode(const Intermediate& intermediate);
base::Result<Intermediate> decode_intermediate(std::string_view bytes);

class SessionRoot {
  public:
    // `now` is the time of the certificates.
    static base::Result<SessionRoot> make(std::time_t now);

    std::string pem() const;
    // The name under which OpenSSL looks for it in a directory of roots: "1a2b3c4d.0".
    std::string link_name() const;
    // `names` are host names in normal form.
    base::Result<Intermediate> issue(std::span<const std::string> names, std::time_t now) const;

  private:
    Key key_;
    Certificate certificate_;
};

// Signs leaf certificates with one key for all of them.
class LeafIssuer {
  public:
    static base::Result<LeafIssuer> make(const Intermediate& intermediate);

    base::Result<Certificate> leaf(std::string_view name, std::time_t now) const;
    // When the intermediate ends, and all leaves with it. Seconds since 1970.
    std::time_t end() const;
    evp_pkey_st* leaf_key() const { return leaf_key_.get(); }
    x509_st* certificate() const { return certificate_.get(); }

  private:
    Key key_;
    Key leaf_key_;
    Certificate certificate_;
};

std::string pem_of(const x509_st& certificate);
// The first certificate of a PEM text, or null.
Certificate certificate_of_pem(std::string_view pem);

}  // namespace network::tls
