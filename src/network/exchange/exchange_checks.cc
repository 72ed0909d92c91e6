// SPDX-License-Identifier: MIT
// The checks of a request's head that do not depend on rules: names, placeholders, bindings, and the fields
// that a credential adds.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "base/parse.h"
#include "base/text.h"
#include "network/exchange/exchange.h"
#include "rules/names/name.h"

namespace network::exchange {
namespace {

constexpr size_t kMaximumRecordedPath = 256;

bool has_name(const wire::HttpField& field, std::string_view name) {
    return is_same_name(field.name, name);
}

bool has_any_name(const wire::HttpField& field, std::span<const std::string_view> names) {
    return std::ranges::any_of(names, [&](std::string_view name) { return has_name(field, name); });
}

// Servers behind a proxy take the path or the host of the request from one of these. gunicorn reads the first
// two.
constexpr std::string_view kOtherPath[] = {
    "Script-Name",     "Path-Info",      "X-Original-URL",     "X-Original-URI",        "X-Original-Path",
    "X-Rewrite-URL",   "X-Override-URL", "X-Forwarded-URI",    "X-Forwarded-Path",      "X-Forwarded-URL",
    "X-Replaced-Path", "X-Request-URI",  "X-Forwarded-Prefix", "X-Envoy-Original-Path",
};
// WebDAV and stores of objects copy or move from one path to another.
constexpr std::string_view kSecondPath[] = {
    "Destination",        "X-Amz-Copy-Source",   "X-Amz-Rename-Source",
    "X-Goog-Copy-Source", "X-Ms-Copy-Source",    "X-Ms-Rename-Source",
    "X-Copy-From",        "X-Copy-From-Account", "Destination-Account",
};
constexpr std::string_view kOtherHost[] = {
    "X-Forwarded-Host", "X-Original-Host", "X-Host", "X-HTTP-Host-Override", "X-Forwarded-Server",
};
constexpr std::string_view kForwarded = "Forwarded";

// The hosts of a Forwarded field (RFC 7239). A quoted text may hold a separator: then a part of it counts
// too, and names no host.
std::vector<std::string_view> forwarded_hosts(std::string_view value) {
    std::vector<std::string_view> hosts;
    for (std::string_view element : base::split(value, ',')) {
        for (std::string_view pair : base::split(element, ';')) {
            size_t equals = std::min(pair.find('='), pair.size());
            if (!base::equals_ignoring_case(base::trim(pair.substr(0, equals)), "host")) continue;
            std::string_view host = base::trim(pair.substr(std::min(equals + 1, pair.size())));
            if (host.size() > 1 && host.starts_with('"') && host.ends_with('"'))
                host = host.substr(1, host.size() - 2);
            hosts.push_back(host);
        }
    }
    return hosts;
}

}  // namespace

std::string hyphenated(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '_', '-');
    return text;
}

bool is_same_name(std::string_view left, std::string_view right) {
    auto folded = [](char letter) { return letter == '_' ? '-' : base::lower(letter); };
    return std::ranges::equal(left, right, [&](char a, char b) { return folded(a) == folded(b); });
}

bool overrides_method(const wire::HttpField& field) {
    return requests::is_method_override(field.name);  // takes '_' as '-'
}

bool may_lose_its_body(const wire::HttpRequest& request) {
    constexpr std::string_view kWithBody[] = {"POST", "PUT", "PATCH"};
    return request.body != wire::HttpRequest::Body::none &&
           std::ranges::find(kWithBody, request.method) == std::end(kWithBody);
}

// Threat: the name of the connection, Host and the target name different hosts, and the server serves one
// that was not judged.
bool Exchange::check_names() {
    const Place& place = context_.place;
    auto mismatch = [&](std::string reason) {
        refuse_with({.code = Code::host_mismatch, .reason = std::move(reason)});
        return false;
    };
    if (request().form == wire::HttpRequest::Form::absolute && place.is_intercepted)
        return mismatch("the target is an http:// address on an encrypted connection");
    if (!request().host) return mismatch("the request has no Host field");
    const wire::Authority& authority = *request().host;
    auto names_host = [&] {
        // The usual spelling. The host of the connection is a parsed name.
        if (authority.host == place.host && place.host == place.expected_host) return true;
        base::Result<HostName> name = HostName::parse(authority.host);
        return name && name->str() == place.expected_host;
    };
    bool is_same = !authority.is_ipv6 && names_host() &&
                   authority.port.value_or(place.expected_port) == place.expected_port;
    if (is_same) return true;
    return mismatch(base::format("Host is {}, but the connection is to {}",
                                 base::printable(wire::authority_text(authority)), place.expected_host));
}

// Threat: the server reads the request otherwise than the rules do. Of two fields that describe the body, it
// reads the other one; behind CGI or WSGI it takes Content_Length for Content-Length; some frameworks take
// the path from a field. A field that Connection names ends at the gateway, so the server does not get what
// the rules read.
bool Exchange::check_fields() {
    constexpr std::string_view kOnce[] = {"Content-Type", "Content-Encoding"};
    constexpr std::string_view kWithHyphenOnly[] = {"Content-Length", "Transfer-Encoding"};
    auto fault_of = [&](const wire::HttpField& field) -> std::string {
        auto is_named = [&](std::string_view name) { return has_name(field, name); };
        auto is_alike = [&](const wire::HttpField& other) { return has_name(other, field.name); };
        if (std::ranges::any_of(kOnce, is_named) && std::ranges::count_if(request().fields, is_alike) > 1)
            return base::format("the request has several {} fields", base::printable(field.name));
        if (std::ranges::any_of(kOnce, is_named) && wire::is_named_by_connection(request(), field.name))
            return base::format("the Connection field names {}", base::printable(field.name));
        if (std::ranges::any_of(kWithHyphenOnly, is_named) && field.name.find('_') != std::string::npos)
            return base::format("some servers read the field {} as {}", base::printable(field.name),
                                hyphenated(field.name));
        if (has_any_name(field, kOtherPath))
            return base::format("the field {} names another path", base::printable(field.name));
        if (has_any_name(field, kSecondPath) && judges_paths())
            return base::format("the field {} names a second path, which no rule and no credential judges",
                                base::printable(field.name));
        return "";
    };
    for (const wire::HttpField& field : request().fields) {
        if (names_other_host(field)) {
            refuse_with({.code = Code::host_mismatch,
                         .reason = base::format("the field {} names another host than the connection",
                                                base::printable(field.name))});
            return false;
        }
        std::string fault = fault_of(field);
        if (fault.empty()) continue;
        refuse_with({.code = Code::request_refused, .reason = std::move(fault)});
        return false;
    }
    return true;
}

// Threat: a copy reads or writes a path that is closed.
bool Exchange::judges_paths() const {
    const Place& place = context_.place;
    return context_.rules->names(place.host, place.port) ||
           std::ranges::any_of(context_.bindings, [&](const Binding& binding) {
               return !binding.paths.empty() && binding.is_for(place.host, place.port);
           });
}

// Threat: a server of many hosts serves one that was not judged.
bool Exchange::names_other_host(const wire::HttpField& field) const {
    const Place& place = context_.place;
    auto is_other = [&](std::string_view text) {
        std::optional<wire::Authority> authority = wire::parse_authority(text);
        if (!authority || authority->port.value_or(place.port) != place.port) return true;
        return !base::equals_ignoring_case(authority->host, place.host);
    };
    if (has_any_name(field, kOtherHost)) return is_other(field.value);
    return has_name(field, kForwarded) && std::ranges::any_of(forwarded_hosts(field.value), is_other);
}

bool Exchange::is_bound(size_t binding) const {
    const Place& place = context_.place;
    return place.is_encrypted && context_.bindings[binding].is_for(place.host, place.port);
}

void Exchange::refuse_placeholder(Code code, size_t binding, std::string_view where) {
    const Binding& bound = context_.bindings[binding];
    std::vector<std::string> hosts;
    for (const requests::HostPattern& host : bound.hosts) hosts.push_back(host.text());
    refuse_with(
        {.code = code,
         .reason = base::format("the placeholder of the credential '{}' is in {} of a request to {}; it is "
                                "for {}",
                                bound.name, where, context_.place.host, base::join(hosts, ", "))});
}

bool Exchange::check_placeholders() {
    const std::vector<wire::HttpField>& fields = request().fields;
    std::vector<std::vector<size_t>> found;
    found.reserve(fields.size());
    std::string line;
    for (const wire::HttpField& field : fields) {
        line.assign(field.name).append(": ").append(field.value);
        found.push_back(context_.finder.find_all(line));
    }
    std::vector<size_t> in_target = context_.finder.find_all(request().path);
    for (size_t i = 0; i <= fields.size(); ++i) {
        bool is_target = i == fields.size();
        for (size_t binding : is_target ? in_target : found[i]) {
            if (is_bound(binding)) continue;
            std::string where = is_target ? "the URL" : "the field " + base::printable(fields[i].name);
            refuse_placeholder(Code::placeholder_elsewhere, binding, where);
            return false;
        }
    }
    if (!check_signature()) return false;
    for (size_t i = 0; i < fields.size(); ++i) {
        if (!check_field(i, found[i])) return false;
    }
    return check_target(in_target) && check_swaps();
}

bool Exchange::check_field(size_t field, const std::vector<size_t>& found) {
    const wire::HttpField& sent = request().fields[field];
    const Binding* concerned = nullptr;
    const bool is_signature = signed_ && signed_->field == field;
    const bool has_token = has_name(sent, kSubprotocols) && count_subprotocol_tokens(sent.value) > 0;
    constexpr size_t kNone = SIZE_MAX;
    size_t swapped = is_signature ? signed_->binding : kNone;
    for (size_t i = 0; i < context_.bindings.size() && swapped == kNone; ++i) {
        if (!is_bound(i)) continue;
        if (has_token) concerned = &context_.bindings[i];
        for (const Put& put : context_.bindings[i].puts) {
            if (has_token && put.kind == Put::Kind::bearer) {
                auto replacement = match_subprotocol(sent.value, context_.bindings[i].placeholder);
                if (replacement && base::equals_ignoring_case(sent.name, kSubprotocols)) {
                    swaps_.push_back({i, field, *std::move(replacement), ""});
                    swapped = i;
                    break;
                }
            }
            if (put.field().empty() || !has_name(sent, put.field())) continue;
            concerned = &context_.bindings[i];
            if (!base::equals_ignoring_case(sent.name, put.field())) continue;
            std::string_view placeholder = context_.bindings[i].placeholder_in(sent.value);
            auto replacement = match_field(put, sent.value, placeholder, is_git_path_);
            if (!replacement) continue;
            swaps_.push_back({i, field, *std::move(replacement), ""});
            swapped = i;
            break;
        }
    }
    std::string where = "the field " + base::printable(sent.name);
    for (size_t binding : found) {
        if (swapped == binding) continue;
        refuse_placeholder(Code::outside_the_binding, binding, where);
        return false;
    }
    if (concerned == nullptr || swapped != kNone || sent.value.empty()) return true;
    refuse_with(
        {.code = Code::foreign_credential,
         .reason = base::format("{} of a request to {} does not hold the placeholder of the credential '{}'",
                                where, context_.place.host, concerned->name),
         .change = base::format("use the value of the variable inside the sandbox; 'agent-sandbox why "
                                "credential {}' describes it",
                                concerned->name)});
    return false;
}

bool Exchange::check_target(const std::vector<size_t>& found) {
    std::vector<size_t> swapped;
    for (size_t i = 0; i < context_.bindings.size(); ++i) {
        if (!is_bound(i)) continue;
        const Binding& binding = context_.bindings[i];
        for (const Put& put : binding.puts) {
            if (has_other_in_target(put, request().path, binding.placeholder)) {
                refuse_with({.code = Code::foreign_credential,
                             .reason = base::format("the URL of a request to {} holds another value than the "
                                                    "placeholder of the credential '{}'",
                                                    context_.place.host, binding.name)});
                return false;
            }
            auto replacement = match_target(put, request().path, binding.placeholder);
            if (!replacement || !swapped.empty()) continue;
            swaps_.push_back({i, kTarget, *std::move(replacement), ""});
            swapped.push_back(i);
        }
    }
    for (size_t binding : found) {
        if (std::ranges::find(swapped, binding) != swapped.end()) continue;
        refuse_placeholder(Code::outside_the_binding, binding, "the URL");
        return false;
    }
    return true;
}

// Threat: a server that takes the method from a field or from the query (credentials/method-override of the
// self-test).
bool Exchange::is_within(const Binding& binding) const {
    const Place& place = context_.place;
    if (!binding.permits(place.host, place.port, request().method, path_)) return false;
    return binding.methods.empty() || requests::override_fault(question(), path_.query).empty();
}

// What is left around a value must not hold a placeholder, and the request must be within the binding.
bool Exchange::check_swaps() {
    for (const Swap& swap : swaps_) {
        const Replacement& text = swap.replacement;
        for (const std::string* part :
             {&text.before, &text.after, &text.encoding.before, &text.encoding.after}) {
            if (!context_.finder.find(*part)) continue;
            refuse_placeholder(Code::outside_the_binding, swap.binding, "a second place");
            return false;
        }
        const Binding& binding = context_.bindings[swap.binding];
        bool is_limited = !binding.paths.empty() || !binding.methods.empty();
        if (is_limited && !path_fault_.empty()) {
            refuse_with({.code = Code::path_not_canonical, .reason = std::string(path_fault_)});
            return false;
        }
        const Place& place = context_.place;
        if (!is_limited || is_within(binding)) continue;
        refuse_with(
            {.code = Code::outside_the_binding,
             .reason = base::format("the credential '{}' is not for {} {}{}", binding.name, request().method,
                                    place.host, base::printable(recorded_path())),
             .change = base::format("credential.{}.paths and credential.{}.methods list what it is for",
                                    binding.name, binding.name)});
        return false;
    }
    return true;
}

void Exchange::add_always() {
    for (size_t i = 0; i < context_.bindings.size(); ++i) {
        const Binding& binding = context_.bindings[i];
        if (!binding.adds_always || !is_bound(i) || !swaps_.empty()) continue;
        bool is_limited = !binding.paths.empty() || !binding.methods.empty();
        if (is_limited && (!path_fault_.empty() || !is_within(binding))) continue;
        std::optional<Addition> chosen;
        for (const Put& put : binding.puts) {
            // git's paths take Basic alone, where the credential has a form for git.
            bool is_better = put.kind == Put::Kind::git && is_git_path_;
            if (!chosen || is_better) chosen = addition_of(put, is_git_path_);
            if (is_better) break;
        }
        if (chosen) swaps_.push_back({i, kAdded, std::move(chosen->replacement), std::move(chosen->field)});
    }
}

// Threat: a server that treats trailers like header fields. They must not carry a credential or a
// placeholder, nor frame the request.
bool Exchange::are_trailers_harmless() const {
    if (body_.trailers().empty()) return true;
    std::vector<wire::HttpField> trailers;
    if (wire::parse_http_fields(body_.trailers() + "\r\n", trailers) != nullptr) return false;
    constexpr std::string_view kNever[] = {"authorization",     "cookie", "host",    "content-length",
                                           "transfer-encoding", "te",     "trailer", "content-encoding"};
    return std::ranges::none_of(trailers, [&](const wire::HttpField& trailer) {
        if (base::starts_ignoring_case(hyphenated(trailer.name), "proxy-")) return true;
        if (overrides_method(trailer) || has_any_name(trailer, kOtherPath) || names_other_host(trailer))
            return true;
        for (std::string_view name : kNever) {
            if (has_name(trailer, name)) return true;
        }
        for (const Binding& binding : context_.bindings) {
            for (const Put& put : binding.puts) {
                if (!put.field().empty() && has_name(trailer, put.field())) return true;
            }
        }
        return context_.finder.find(trailer.name + ": " + trailer.value).has_value();
    });
}

std::string Exchange::recorded_path() const {
    return shown_path().substr(0, kMaximumRecordedPath);
}

std::string Exchange::shown_path() const {
    std::string path = request().path.substr(0, request().path.find('?'));
    for (const Swap& swap : swaps_) {
        if (swap.field != kTarget) continue;
        const Replacement& text = swap.replacement;
        bool is_in_query = text.before.find('?') != std::string::npos;
        if (is_in_query) continue;
        path = base::format("{}{{{}}}{}", text.before, context_.bindings[swap.binding].name,
                            text.after.substr(0, text.after.find('?')));
    }
    return base::printable(path);
}

}  // namespace network::exchange
