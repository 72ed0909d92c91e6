// SPDX-License-Identifier: MIT
// AWS Signature Version 4, for `put = "sigv4"`. The client signs with the placeholder of a key: the signature
// proves that it has the placeholder. Then the request is signed anew with the real key: same scope, date and
// signed fields. The secret key never leaves the gateway.
//
//   canonical request: method, path, query, signed fields, their names, hash of the body
//   text to sign:      algorithm, date, scope, hash of the canonical request
//   signature:         HMAC with a key that is derived from the secret key, day, region and service
//
// Pure: no clock, no socket. Tests with the scheme's published values: tests/exchange/sigv4_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"

namespace network::exchange {

// The value of such a credential: "ID SECRET" or "ID SECRET TOKEN". The placeholder has the first form.
struct AwsKeys {
    std::string id;
    base::SecretValue secret;
    base::SecretValue token;  // empty: the key is not temporary

    static std::optional<AwsKeys> split(const base::SecretValue& value);
};
std::string_view key_id_of(std::string_view placeholder);
std::string_view secret_key_of(std::string_view placeholder);

// Where a credential may be used: "REGION/SERVICE"; either may be *.
struct SignatureScope {
    std::string region, service;

    bool permits(std::string_view other_region, std::string_view other_service) const;
    std::string text() const { return region + "/" + service; }
};
base::Result<SignatureScope> parse_signature_scope(std::string_view text);

// The field Authorization of a signed request.
struct Authorization {
    std::string id;
    std::string day, region, service;
    std::vector<std::string> names;  // of the signed fields: in lower case, sorted, each once
    std::string signature;

    bool is_s3() const { return service.starts_with("s3"); }
    // "20150830/us-east-1/iam/aws4_request"
    std::string scope() const;
    // The field's value, with this signature.
    std::string text() const;
};
// The error is a sentence about the client's request.
base::Result<Authorization> parse_authorization(std::string_view value);

// What a program sends instead of a signature in fields: a presigned address.
bool is_presigned(std::string_view target);

// The hash of the body as X-Amz-Content-Sha256 has it.
inline constexpr std::string_view kContentHash = "X-Amz-Content-Sha256";
inline constexpr std::string_view kDateField = "X-Amz-Date";
inline constexpr std::string_view kTokenField = "X-Amz-Security-Token";
inline constexpr size_t kMaximumSignedBody = 16u << 20;
inline constexpr std::string_view kSignedBodyTooLarge =
    "a body whose hash is signed is longer than 16 MiB; let the client sign UNSIGNED-PAYLOAD (for the AWS "
    "CLI "
    "and boto3: s3.payload_signing_enabled = false), or send smaller parts";
enum class Payload { hashed, unsigned_body, in_signed_chunks, malformed };
Payload read_payload(std::string_view content_hash);

// A request as it is signed. The fields in any order, with names as they were sent.
struct SignedField {
    std::string_view name;
    std::string_view value;
    const base::SecretValue* secret = nullptr;  // instead of `value`
};
struct SignedRequest {
    std::string_view method, target, date, content_hash;
    std::vector<SignedField> fields;
};

// "2015…Z" of X-Amz-Date, which must be of the scope's day.
bool is_date_of(std::string_view date, std::string_view day);

std::string canonical_path(std::string_view path, bool is_s3);
std::string canonical_query(std::string_view query);
// The canonical request's hash.
std::string request_hash(const SignedRequest& request, const Authorization& authorization);
// 64 digits.
std::string signature_of(const SignedRequest& request, const Authorization& authorization,
                         std::string_view secret_key);
std::string signature_of(const SignedRequest& request, const Authorization& authorization,
                         const base::SecretValue& secret_key);

// How clients of a service expect an error.
enum class AwsForm { json, xml, s3_xml };
AwsForm form_of_service(std::string_view service);

}  // namespace network::exchange
