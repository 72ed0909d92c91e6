// SPDX-License-Identifier: MIT
#include "network/exchange/tokens.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/text.h"
#include "network/exchange/put.h"
#include "network/requests/json_members.h"

namespace network::exchange {
namespace {

constexpr std::string_view kGrants[] = {"refresh_token", "authorization_code",
                                        "urn:ietf:params:oauth:grant-type:device_code"};

// The text fields at the top level of a body. Nothing: servers may read the body in different ways.
// Threat: a field twice, of which the server takes another one than the gateway: a refresh with the agent's
// own token (tests/exchange/tokens_test.cc).
struct Field {
    std::string name, value;
};
std::optional<std::vector<Field>> fields_of(std::string_view body, BodyForm form) {
    std::vector<Field> fields;
    if (form == BodyForm::form) {
        // Some servers take ';' for '&'.
        if (body.find(';') != std::string_view::npos) return std::nullopt;
        for (std::string_view pair : base::split(body, '&')) {
            size_t equals = std::min(pair.find('='), pair.size());
            std::string value(pair.substr(std::min(equals + 1, pair.size())));
            std::ranges::replace(value, '+', ' ');
            std::string name = base::percent_decoded(pair.substr(0, equals));
            if (std::ranges::find(fields, name, &Field::name) != fields.end()) return std::nullopt;
            fields.push_back({std::move(name), base::percent_decoded(value)});
        }
        return fields;
    }
    base::Result<base::Json> json = base::Json::parse(body);
    if (!json || !json->is_object()) return std::nullopt;
    if (requests::count_members(body) != json->members().size()) return std::nullopt;
    for (const auto& [name, value] : json->members()) {
        const std::string* text = value.as_text();
        const int64_t* number = value.as_number();
        fields.push_back({name, text != nullptr ? *text : number != nullptr ? std::to_string(*number) : ""});
    }
    return fields;
}

// Threat: a field whose name some servers take for another one. Go's reader of JSON compares names without
// case, and with letters that only look alike; PHP's reader of forms takes `refresh.token` and
// `refresh_token[]` for `refresh_token` (tests/exchange/tokens_test.cc).
bool has_clear_names(const std::vector<Field>& fields) {
    std::vector<std::string> names;
    for (const Field& field : fields) {
        const bool is_plain = std::ranges::all_of(field.name, [](char letter) {
            return base::is_letter(letter) || base::is_digit(letter) || letter == '_' || letter == '-';
        });
        if (!is_plain) return false;
        names.push_back(base::lower(field.name));
    }
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) == names.end();
}

const std::string* find(const std::vector<Field>& fields, std::string_view name) {
    auto found = std::ranges::find(fields, name, &Field::name);
    return found == fields.end() ? nullptr : &found->value;
}

// Whether the text at this place is the whole value of the field.
bool is_value_of(std::string_view body, size_t at, size_t size, const std::string& name, BodyForm form) {
    std::string_view before = body.substr(0, at), after = body.substr(at + size);
    if (form == BodyForm::form) {
        bool is_first = before == name + "=";
        return (is_first || before.ends_with("&" + name + "=")) && (after.empty() || after.front() == '&');
    }
    if (!before.ends_with('"') || !after.starts_with('"')) return false;
    before = base::trim(before.substr(0, before.size() - 1));
    if (!before.ends_with(':')) return false;
    return base::trim(before.substr(0, before.size() - 1)).ends_with("\"" + name + "\"");
}

bool is_token_name(std::string_view name) {
    return name == "token" || name == "api_key" || name.ends_with("_token");
}

size_t replace_all(std::string& text, std::string_view from, std::string_view to) {
    size_t count = 0;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
        ++count;
    }
    return count;
}

// A token that is written with escapes can't be replaced where it stands.
bool replace_value(std::string& body, BodyForm form, const std::string& value, std::string_view by) {
    if (replace_all(body, value, by) > 0) return true;
    return form == BodyForm::form && replace_all(body, percent_encoded(value), by) > 0;
}

}  // namespace

std::vector<size_t> issued_by(std::span<const Binding> bindings, const Place& place, std::string_view method,
                              const requests::CanonicalPath& path) {
    std::vector<size_t> issued;
    for (size_t i = 0; i < bindings.size() && place.is_encrypted; ++i) {
        bool is_issued = std::ranges::any_of(bindings[i].issues, [&](const Issuer& issuer) {
            return issuer.request.host.matches(place.host, place.port) &&
                   issuer.request.matches(method, path);
        });
        if (is_issued) issued.push_back(i);
    }
    return issued;
}

BodyForm form_of(std::string_view content_type) {
    std::string_view type = base::trim(content_type.substr(0, content_type.find(';')));
    if (base::equals_ignoring_case(type, "application/json")) return BodyForm::json;
    if (base::equals_ignoring_case(type, "application/x-www-form-urlencoded")) return BodyForm::form;
    return BodyForm::unknown;
}

TokenRequest read_token_request(std::string_view body, BodyForm form, const Place& place,
                                std::span<const Binding> bindings, const PlaceholderFinder& finder) {
    TokenRequest request{.parts = {}, .form = form, .fault = {}};
    auto refused = [&](Code code, std::string reason) {
        request.parts.clear();
        request.code = code;
        request.fault = std::move(reason);
        return request;
    };
    std::optional<std::vector<Field>> fields =
        form == BodyForm::unknown ? std::nullopt : fields_of(body, form);
    if (!fields || !has_clear_names(*fields))
        return refused(
            Code::request_refused,
            "the body of a request for a token must be a JSON object or a form, with each field once and "
            "names of letters, digits, _ and -");
    // Threat: a grant for a key that outlives the session (tests/exchange/tokens_test.cc).
    const std::string* grant = find(*fields, "grant_type");
    if (grant == nullptr || std::ranges::find(kGrants, *grant) == std::end(kGrants))
        return refused(Code::request_refused, "only a log-in and a refresh get a token here");
    for (size_t binding : finder.find_all(body)) {
        const Binding& bound = bindings[binding];
        if (!bound.is_for(place.host, place.port))
            return refused(Code::placeholder_elsewhere,
                           base::format("the placeholder of the credential '{}' is in the body of a request "
                                        "for a token to {}",
                                        bound.name, place.host));
        std::string_view text = bound.placeholder_in(body);
        size_t at = body.find(text);
        bool is_once = at != std::string_view::npos && body.find(text, at + 1) == std::string_view::npos;
        // Threat: the placeholder in an inner object, and the agent's own token in the field that the server
        // reads.
        bool is_bound = is_once && std::ranges::any_of(bound.puts, [&](const Put& put) {
                            if (put.kind != Put::Kind::body) return false;
                            const std::string* value = find(*fields, put.name);
                            return value != nullptr && *value == text &&
                                   is_value_of(body, at, text.size(), put.name, form);
                        });
        if (!is_bound)
            return refused(Code::outside_the_binding,
                           base::format("the placeholder of the credential '{}' is at another place of the "
                                        "body than the credential names",
                                        bound.name));
        request.parts.push_back({binding, at, text.size()});
    }
    std::ranges::sort(request.parts, {}, &TokenRequest::Part::at);
    if (*grant == "refresh_token" && request.parts.empty())
        return refused(Code::foreign_credential,
                       "a refresh of a token that this session did not get would put another account in "
                       "the place of yours");
    return request;
}

base::SecretValue with_values(std::string_view body, const TokenRequest& request,
                              std::span<const size_t> order,
                              std::span<const base::SecretValue* const> values) {
    base::SecretValue whole;
    size_t at = 0;
    const Encoding encoding{request.form == BodyForm::form ? Encoding::Kind::percent : Encoding::Kind::json,
                            "", ""};
    for (const TokenRequest::Part& part : request.parts) {
        whole.append(body.substr(at, part.at - at));
        auto number = static_cast<size_t>(std::ranges::find(order, part.binding) - order.begin());
        if (number < values.size()) encoding.append(whole, *values[number]);
        at = part.at + part.size;
    }
    whole.append(body.substr(at));
    return whole;
}

TokenAnswer read_token_answer(std::string_view body, BodyForm form, std::span<const Binding> bindings,
                              std::span<const size_t> issued) {
    TokenAnswer answer{.issued = {}, .body = std::string(body), .fault = {}};
    std::optional<std::vector<Field>> fields =
        form == BodyForm::unknown ? std::nullopt : fields_of(body, form);
    if (!fields) {
        answer.fault =
            "the answer of a token endpoint is neither a JSON object nor a form with each field once";
        return answer;
    }
    for (Field& field : *fields) {
        auto gives = [&](size_t number) {
            const std::vector<Issuer>& issuers = bindings[number].issues;
            return std::ranges::find(issuers, field.name, &Issuer::field) != issuers.end();
        };
        auto number = std::ranges::find_if(issued, gives);
        bool is_token = number != issued.end() || is_token_name(field.name);
        if (!is_token || field.value.size() < base::SecretValue::kMinimum) continue;
        // Threat: a token that no credential names, such as the one of an identity.
        std::string by = number != issued.end() ? bindings[*number].placeholder_for(field.value)
                                                : std::string(field.value.size(), '*');
        if (!replace_value(answer.body, form, field.value, by)) {
            answer.fault = "the answer of a token endpoint spells a token in an unknown way";
            return answer;
        }
        if (number == issued.end()) continue;
        base::Result<base::SecretValue> value = base::SecretValue::make(std::move(field.value));
        if (!value) {
            answer.fault = "the answer of a token endpoint has a token that can't be used";
            return answer;
        }
        answer.issued.tokens.push_back({*number, *std::move(value)});
    }
    if (const std::string* text = find(*fields, "expires_in"))
        answer.issued.expires_in = base::parse_number<int64_t>(*text).value_or(0);
    if (const std::string* text = find(*fields, "scope")) answer.issued.scope = *text;
    return answer;
}

}  // namespace network::exchange
