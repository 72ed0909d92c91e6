// SPDX-License-Identifier: MIT
#include "network/exchange/sigv4.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "network/exchange/put.h"
#include "network/tls/digest.h"

namespace network::exchange {
namespace {

using base::Error;
using base::Result;

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kEnd = "aws4_request";
constexpr size_t kDay = 8, kDate = 16;  // "20150830", "20150830T123600Z"
constexpr size_t kDigits = 64;          // of a hash or a signature
constexpr size_t kLongestPart = 64, kMaximumNames = 64;

Error fault(std::string what) {
    return Error{.what = std::move(what)};
}

bool is_hash(std::string_view text) {
    return text.size() == kDigits && std::ranges::all_of(text, [](char letter) {
               return base::is_digit(letter) || (letter >= 'a' && letter <= 'f');
           });
}

bool is_number(std::string_view text, size_t digits) {
    return text.size() == digits && std::ranges::all_of(text, base::is_digit);
}

// A region or a service.
bool is_scope_part(std::string_view text) {
    return !text.empty() && text.size() <= kLongestPart && std::ranges::all_of(text, [](char letter) {
        return base::is_letter(letter) || base::is_digit(letter) || letter == '-' || letter == '_';
    });
}

// The text after "NAME=" of one part.
std::optional<std::string_view> part_named(std::string_view part, std::string_view name) {
    part = base::trim(part);
    if (!part.starts_with(name) || part.size() <= name.size() || part[name.size()] != '=')
        return std::nullopt;
    return part.substr(name.size() + 1);
}

bool read_credential(std::string_view text, Authorization& authorization) {
    std::vector<std::string_view> parts = base::split(text, '/');
    if (parts.size() != 5) return false;
    authorization.id = parts[0];
    authorization.day = parts[1];
    authorization.region = parts[2];
    authorization.service = parts[3];
    return is_scope_part(parts[0]) && is_number(parts[1], kDay) && is_scope_part(parts[2]) &&
           is_scope_part(parts[3]) && parts[4] == kEnd;
}

bool read_names(std::string_view text, std::vector<std::string>& names) {
    for (std::string_view name : base::split(text, ';')) {
        bool is_name = !name.empty() && std::ranges::all_of(name, [](char letter) {
            return base::is_token_character(letter) && base::lower(letter) == letter;
        });
        bool is_later = names.empty() || names.back() < name;
        if (!is_name || !is_later || names.size() == kMaximumNames) return false;
        names.emplace_back(name);
    }
    return !names.empty();
}

// Blanks at the ends are removed, and several become one.
std::string one_line(std::string_view value) {
    std::string text;
    for (char letter : base::trim(value)) {
        bool is_blank = letter == ' ' || letter == '\t';
        if (is_blank && text.ends_with(' ')) continue;
        text += is_blank ? ' ' : letter;
    }
    return text;
}

// As the services do for all but S3.
std::string without_dots(std::string_view path) {
    std::vector<std::string_view> kept;
    for (std::string_view segment : base::split(path, '/')) {
        if (segment.empty() || segment == ".") continue;
        if (segment != "..") {
            kept.push_back(segment);
        } else if (!kept.empty()) {
            kept.pop_back();
        }
    }
    std::string text = "/";
    for (size_t i = 0; i < kept.size(); ++i) {
        if (i > 0) text += '/';
        text += kept[i];
    }
    if (!kept.empty() && path.ends_with('/')) text += '/';
    return text;
}

std::string_view view_of(const tls::Digest256& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

std::optional<AwsKeys> AwsKeys::split(const base::SecretValue& value) {
    AwsKeys keys;
    bool is_whole = value.reveal([&](std::string_view bytes) {
        size_t first = bytes.find(' ');
        if (first == std::string_view::npos || first == 0) return false;
        std::string_view rest = bytes.substr(first + 1);
        size_t second = std::min(rest.find(' '), rest.size());
        keys.id = bytes.substr(0, first);
        keys.secret.append(rest.substr(0, second));
        if (second < rest.size()) keys.token.append(rest.substr(second + 1));
        return is_scope_part(keys.id) && second > 0;
    });
    return is_whole ? std::optional(std::move(keys)) : std::nullopt;
}

std::string_view key_id_of(std::string_view placeholder) {
    return placeholder.substr(0, placeholder.find(' '));
}

std::string_view secret_key_of(std::string_view placeholder) {
    return placeholder.substr(std::min(placeholder.find(' '), placeholder.size() - 1) + 1);
}

bool SignatureScope::permits(std::string_view other_region, std::string_view other_service) const {
    return (region == "*" || region == other_region) && (service == "*" || service == other_service);
}

Result<SignatureScope> parse_signature_scope(std::string_view text) {
    size_t slash = text.find('/');
    std::string_view region = text.substr(0, slash);
    std::string_view service = slash == std::string_view::npos ? "" : text.substr(slash + 1);
    auto is_part = [](std::string_view part) { return part == "*" || is_scope_part(part); };
    if (is_part(region) && is_part(service))
        return SignatureScope{.region = std::string(region), .service = std::string(service)};
    return Error{.what = base::format("'{}' is not a region and a service", base::printable(text)),
                 .advice = "write REGION/SERVICE, for example eu-central-1/s3; * is any"};
}

std::string Authorization::scope() const {
    return base::format("{}/{}/{}/{}", day, region, service, kEnd);
}

std::string Authorization::text() const {
    return base::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm, id, scope(),
                        base::join(names, ";"), signature);
}

Result<Authorization> parse_authorization(std::string_view value) {
    if (value.starts_with("AWS4-ECDSA-P256-SHA256"))
        return fault(
            "it is signed with SigV4a (asymmetric, for several regions), which is not supported; "
            "use an address of one region");
    if (value.starts_with("AWS "))
        return fault("it is signed with version 2 of AWS signatures, which is not supported; use version 4");
    if (!value.starts_with(kAlgorithm) || value.size() == kAlgorithm.size() ||
        value[kAlgorithm.size()] != ' ')
        return fault("it has no AWS signature of version 4 in Authorization");
    Authorization authorization;
    bool has_credential = false, has_names = false;
    std::vector<std::string_view> parts = base::split(value.substr(kAlgorithm.size() + 1), ',');
    for (std::string_view part : parts) {
        if (auto text = part_named(part, "Credential")) {
            has_credential = read_credential(*text, authorization);
        } else if (auto names = part_named(part, "SignedHeaders")) {
            has_names = read_names(*names, authorization.names);
        } else if (auto signature = part_named(part, "Signature")) {
            authorization.signature = *signature;
        }
    }
    bool is_whole = parts.size() == 3 && has_credential && has_names && is_hash(authorization.signature);
    if (!is_whole) return fault("the AWS signature in Authorization is malformed");
    if (!std::ranges::binary_search(authorization.names, std::string_view("host")))
        return fault("its AWS signature does not cover the field Host");
    return authorization;
}

bool is_presigned(std::string_view target) {
    constexpr std::string_view kNames[] = {"x-amz-signature", "x-amz-credential", "x-amz-algorithm",
                                           "x-amz-security-token", "awsaccesskeyid"};
    size_t mark = std::min(target.find('?'), target.size() - 1);
    for (std::string_view pair : base::split(target.substr(mark + 1), '&')) {
        std::string name = base::lower(base::percent_decoded(pair.substr(0, pair.find('='))));
        if (std::ranges::find(kNames, name) != std::end(kNames)) return true;
    }
    return false;
}

Payload read_payload(std::string_view content_hash) {
    if (is_hash(content_hash)) return Payload::hashed;
    if (content_hash == "UNSIGNED-PAYLOAD" || content_hash == "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        return Payload::unsigned_body;
    return content_hash.starts_with("STREAMING-") ? Payload::in_signed_chunks : Payload::malformed;
}

bool is_date_of(std::string_view date, std::string_view day) {
    return date.size() == kDate && date.starts_with(day) && is_number(date.substr(0, kDay), kDay) &&
           date[kDay] == 'T' && is_number(date.substr(kDay + 1, 6), 6) && date.ends_with('Z');
}

// S3 takes the path as it was sent. The other services remove dots and empty segments, and encode what was
// encoded once more.
std::string canonical_path(std::string_view path, bool is_s3) {
    if (path.empty()) return "/";
    return is_s3 ? std::string(path) : percent_encoded(without_dots(path), "-._~/");
}

std::string canonical_query(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::string_view pair : base::split(query, '&')) {
        if (pair.empty()) continue;
        size_t equals = std::min(pair.find('='), pair.size());
        std::string_view value = equals == pair.size() ? "" : pair.substr(equals + 1);
        pairs.emplace_back(percent_encoded(base::percent_decoded(pair.substr(0, equals))),
                           percent_encoded(base::percent_decoded(value)));
    }
    std::ranges::sort(pairs);
    std::string text;
    for (const auto& [name, value] : pairs) {
        if (!text.empty()) text += '&';
        text.append(name).append("=").append(value);
    }
    return text;
}

std::string request_hash(const SignedRequest& request, const Authorization& authorization) {
    size_t mark = std::min(request.target.find('?'), request.target.size());
    std::string_view query = request.target.substr(std::min(mark + 1, request.target.size()));
    tls::Sha256 hash;
    hash.update(request.method).update("\n");
    hash.update(canonical_path(request.target.substr(0, mark), authorization.is_s3())).update("\n");
    hash.update(canonical_query(query)).update("\n");
    for (const std::string& name : authorization.names) {
        hash.update(name).update(":");
        bool is_first = true;
        for (const SignedField& field : request.fields) {
            if (!base::equals_ignoring_case(field.name, name)) continue;
            if (!std::exchange(is_first, false)) hash.update(",");
            if (field.secret == nullptr) {
                hash.update(one_line(field.value));
            } else {
                field.secret->reveal([&](std::string_view bytes) { hash.update(bytes); });
            }
        }
        hash.update("\n");
    }
    hash.update("\n").update(base::join(authorization.names, ";")).update("\n");
    return hash.update(request.content_hash).hexadecimal();
}

std::string signature_of(const SignedRequest& request, const Authorization& authorization,
                         std::string_view secret_key) {
    std::string text = base::format("{}\n{}\n{}\n{}", kAlgorithm, request.date, authorization.scope(),
                                    request_hash(request, authorization));
    std::string start;
    start.reserve(4 + secret_key.size());  // so that it leaves no copy
    start.append("AWS4").append(secret_key);
    tls::Digest256 key = tls::hmac_sha256(start, authorization.day);
    base::wipe(start);
    for (std::string_view part : {std::string_view(authorization.region),
                                  std::string_view(authorization.service), kEnd, std::string_view(text)})
        key = tls::hmac_sha256(view_of(key), part);
    return tls::to_hexadecimal(key);
}

std::string signature_of(const SignedRequest& request, const Authorization& authorization,
                         const base::SecretValue& secret_key) {
    return secret_key.reveal(
        [&](std::string_view bytes) { return signature_of(request, authorization, bytes); });
}

AwsForm form_of_service(std::string_view service) {
    constexpr std::string_view kXml[] = {"sts",
                                         "ec2",
                                         "iam",
                                         "sns",
                                         "cloudformation",
                                         "autoscaling",
                                         "rds",
                                         "redshift",
                                         "email",
                                         "monitoring",
                                         "route53",
                                         "cloudfront",
                                         "elasticache",
                                         "sdb",
                                         "importexport",
                                         "elasticbeanstalk",
                                         "elasticloadbalancing"};
    if (service.starts_with("s3")) return AwsForm::s3_xml;
    return std::ranges::find(kXml, service) != std::end(kXml) ? AwsForm::xml : AwsForm::json;
}

}  // namespace network::exchange
