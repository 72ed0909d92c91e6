// SPDX-License-Identifier: MIT
// Requests that are signed for AWS (sigv4.h): the client's signature, made with the placeholder, is checked,
// and the request is signed anew as it is sent.
//
// A body whose hash is signed is read whole before anything is forwarded, so that the hash is right and the
// real key never signs another body. With UNSIGNED-PAYLOAD the body passes as it comes: TLS protects it.
//
// Threats: a program that has no placeholder gets a signature; a request that is changed after it was signed;
// another region or service than the user permits; a key of another account. Tests:
// tests/exchange/signed_test.cc.
#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/exchange/exchange.h"
#include "network/tls/digest.h"

namespace network::exchange {
namespace {

constexpr std::string_view kSignatureField = "Authorization";

struct Found {
    size_t count = 0;
    size_t at = 0;  // the last one
};
Found find_field(const wire::HttpRequest& request, std::string_view name) {
    Found found;
    for (size_t i = 0; i < request.fields.size(); ++i) {
        if (!is_same_name(request.fields[i].name, name)) continue;
        ++found.count;
        found.at = i;
    }
    return found;
}

std::string only_value(const wire::HttpRequest& request, std::string_view name) {
    Found found = find_field(request, name);
    return found.count == 1 ? request.fields[found.at].value : "";
}

std::string_view unsupported_payload(Payload payload) {
    return payload == Payload::in_signed_chunks
               ? "each chunk of its body is signed (STREAMING-AWS4-HMAC-SHA256-PAYLOAD), which is not "
                 "supported; let the client sign the whole body or UNSIGNED-PAYLOAD"
               : "X-Amz-Content-Sha256 is neither a hash, UNSIGNED-PAYLOAD nor "
                 "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
}

}  // namespace

bool Exchange::check_signature() {
    std::vector<size_t> signing;
    for (size_t i = 0; i < context_.bindings.size(); ++i) {
        if (context_.bindings[i].signs() && is_bound(i)) signing.push_back(i);
    }
    if (signing.empty()) return true;
    auto refuse = [&](Code code, std::string reason, std::string change = {}) {
        refuse_with({.code = code, .reason = std::move(reason), .change = std::move(change)});
        return false;
    };
    const std::string& first = context_.bindings[signing.front()].name;
    if (is_presigned(request().path))
        return refuse(Code::signature_refused,
                      "the address is presigned: its query holds a signature or a key. Let the client sign "
                      "in the field Authorization");
    if (find_field(request(), kTokenField).count > 0)
        return refuse(Code::foreign_credential,
                      base::format("the request has a session token, and the placeholder of the credential "
                                   "'{}' has none; unset AWS_SESSION_TOKEN in the sandbox",
                                   first));
    Found sent = find_field(request(), kSignatureField);
    if (sent.count == 0) return true;
    const std::string& value = request().fields[sent.at].value;
    // Another form is refused as a foreign credential, or belongs to another credential of this host.
    if (sent.count > 1 || !value.starts_with("AWS")) return true;
    base::Result<Authorization> parsed = parse_authorization(value);
    if (!parsed) return refuse(Code::signature_refused, parsed.error().what);
    auto own = std::ranges::find_if(signing, [&](size_t binding) {
        return base::equals_in_constant_time(parsed->id, key_id_of(context_.bindings[binding].placeholder));
    });
    if (own == signing.end())
        return refuse(Code::foreign_credential,
                      base::format("the request is signed with another key than the placeholder of the "
                                   "credential '{}'",
                                   first),
                      base::format("use the variables inside the sandbox; 'agent-sandbox why credential {}' "
                                   "describes them",
                                   first));
    const Binding& binding = context_.bindings[*own];
    bool is_permitted =
        binding.scope.empty() || std::ranges::any_of(binding.scope, [&](const SignatureScope& scope) {
            return scope.permits(parsed->region, parsed->service);
        });
    if (!is_permitted)
        return refuse(Code::outside_the_binding,
                      base::format("the request is signed for {}/{}, and the credential '{}' is not for it",
                                   parsed->region, parsed->service, binding.name),
                      base::format("credential.{}.scope lists what it is for", binding.name));
    Signed made{.binding = *own,
                .field = sent.at,
                .swap = swaps_.size(),
                .authorization = *std::move(parsed),
                .date = only_value(request(), kDateField),
                .content_hash = only_value(request(), kContentHash)};
    if (!is_date_of(made.date, made.authorization.day))
        return refuse(Code::signature_refused,
                      "it has no X-Amz-Date of the day that its signature is for, such as 20260131T120000Z");
    for (const std::string& name : made.authorization.names) {
        if (find_field(request(), name).count > 0) continue;
        return refuse(Code::signature_refused,
                      base::format("its signature covers the field {}, which it does not have", name));
    }
    if (size_t hashes = find_field(request(), kContentHash).count; hashes > 0) {
        made.is_hash_sent = true;
        made.payload = hashes == 1 ? read_payload(made.content_hash) : Payload::malformed;
    }
    bool can_be_signed = made.payload == Payload::hashed || made.payload == Payload::unsigned_body;
    if (!can_be_signed)
        return refuse(Code::signature_refused, std::string(unsupported_payload(made.payload)));
    if (made.payload == Payload::hashed && request().length > kMaximumSignedBody)
        return refuse(Code::body_too_large, std::string(kSignedBodyTooLarge));
    signed_ = std::move(made);
    swaps_.push_back({*own, sent.at, {}, ""});
    if (!signed_->is_hash_sent || is_signature_valid()) return true;
    return refuse(Code::foreign_credential, base::format("the signature is not made with the placeholder of "
                                                         "the credential '{}', or the request was changed "
                                                         "after it was signed",
                                                         binding.name));
}

bool Exchange::is_signature_valid() const {
    SignedRequest signed_request{.method = request().method,
                                 .target = request().path,
                                 .date = signed_->date,
                                 .content_hash = signed_->content_hash,
                                 .fields = {}};
    for (const wire::HttpField& field : request().fields)
        signed_request.fields.push_back({field.name, field.value});
    std::string expected = signature_of(signed_request, signed_->authorization,
                                        secret_key_of(context_.bindings[signed_->binding].placeholder));
    return base::equals_in_constant_time(expected, signed_->authorization.signature);
}

bool Exchange::reads_signed_body() const {
    return signed_ && signed_->payload == Payload::hashed && request().body != wire::HttpRequest::Body::none;
}

// All of the body is there.
void Exchange::check_signed_body() {
    if (!signed_ || signed_->payload != Payload::hashed || signed_->is_body_checked) return;
    std::string hash = tls::sha256_of(pending_);
    bool is_same = true;
    if (signed_->is_hash_sent) {
        is_same = hash == signed_->content_hash;
    } else {
        signed_->content_hash = std::move(hash);
        is_same = is_signature_valid();
    }
    signed_->is_body_checked = is_same;
    if (is_same) return;
    refuse_with(
        {.code = Code::foreign_credential,
         .reason = signed_->is_hash_sent
                       ? "the body is not the one whose hash was signed"
                       : base::format("the signature is not made with the placeholder of the credential "
                                      "'{}', or the request was changed after it was signed",
                                      context_.bindings[signed_->binding].name)});
}

// The places of what is added: write_head() writes marks there.
void Exchange::prepare_signature(const base::SecretValue& value) {
    std::optional<AwsKeys> keys = AwsKeys::split(value);
    // A value of another form signs nothing: the request leaves without a signature.
    swaps_[signed_->swap].replacement.encoding = {Encoding::Kind::fixed, "", ""};
    if (!keys || keys->token.is_empty()) return;
    Replacement token;
    token.encoding.kind = Encoding::Kind::aws_token;
    swaps_.push_back({signed_->binding, kAdded, std::move(token), std::string(kTokenField)});
}

// `head` is sent later; it has marks at the signature and the token.
void Exchange::sign(std::string_view head, const base::SecretValue& value) {
    std::optional<AwsKeys> keys = AwsKeys::split(value);
    std::vector<wire::HttpField> fields;
    if (!keys || wire::parse_http_fields(head.substr(head.find("\r\n") + 2), fields) != nullptr) return;
    SignedRequest signed_request{.method = request().method,
                                 .target = request().path,
                                 .date = signed_->date,
                                 .content_hash = signed_->content_hash,
                                 .fields = {}};
    Authorization authorization = signed_->authorization;
    authorization.id = keys->id;
    for (const wire::HttpField& field : fields) {
        bool is_token = base::equals_ignoring_case(field.name, kTokenField);
        signed_request.fields.push_back({field.name, field.value, is_token ? &keys->token : nullptr});
        if (is_token) authorization.names.push_back(base::lower(field.name));
    }
    // Fields that end at the gateway are not signed.
    std::erase_if(authorization.names, [&](const std::string& name) {
        return std::ranges::none_of(fields, [&](const wire::HttpField& field) {
            return base::equals_ignoring_case(field.name, name);
        });
    });
    std::ranges::sort(authorization.names);
    authorization.signature = signature_of(signed_request, authorization, keys->secret);
    swaps_[signed_->swap].replacement.encoding.before = authorization.text();
}

// Refusals that the clients of AWS show.
std::optional<AwsForm> Exchange::aws_form() const {
    bool is_signed_host = false;
    for (size_t i = 0; i < context_.bindings.size(); ++i)
        is_signed_host |= context_.bindings[i].signs() && is_bound(i);
    if (!is_signed_host) return std::nullopt;
    bool is_json = find_field(request(), "X-Amz-Target").count > 0 ||
                   only_value(request(), "Content-Type").find("json") != std::string::npos;
    if (is_json) return AwsForm::json;
    if (base::Result<Authorization> parsed = parse_authorization(only_value(request(), kSignatureField)))
        return form_of_service(parsed->service);
    std::vector<std::string_view> labels = base::split(context_.place.host, '.');
    bool is_s3 = std::ranges::any_of(labels, [](std::string_view label) { return label.starts_with("s3"); });
    return is_s3 ? AwsForm::s3_xml : form_of_service(labels.front());
}

}  // namespace network::exchange
