// SPDX-License-Identifier: MIT
#include "network/exchange/put.h"

#include <algorithm>

#include "base/encoding/base64.h"
#include "base/parse.h"
#include "base/text.h"
#include "network/exchange/sigv4.h"
#include "network/requests/git.h"

namespace network::exchange {
namespace {

using base::Error;
using base::Result;

constexpr std::string_view kAuthorization = "Authorization";
constexpr std::string_view kValue = "{}";
constexpr std::string_view kSeparator = " or ";
constexpr std::string_view kGitUser = "x-access-token";

Error not_a_put(std::string_view text, std::string_view why) {
    return Error{.what = base::format("'{}' is not a place for a credential: {}", base::printable(text), why),
                 .advice =
                     "write bearer, header NAME [FORMAT], basic USER, query NAME, git, path /bot{}/, "
                     "sigv4 or body NAME"};
}

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, base::is_token_character);
}

bool is_plain_text(std::string_view text) {
    return std::ranges::all_of(text, [](char letter) { return letter >= ' ' && letter <= '~'; });
}

// Fields that frame the request or belong to the gateway.
bool is_reserved(std::string_view name) {
    constexpr std::string_view kReserved[] = {"host",   "connection", "content-length", "transfer-encoding",
                                              "te",     "upgrade",    "expect",         "accept-encoding",
                                              "trailer"};
    return std::ranges::any_of(kReserved,
                               [&](std::string_view own) { return base::equals_ignoring_case(own, name); });
}

Result<Put> parse_header(std::string_view text, std::string_view rest) {
    size_t blank = std::min(rest.find(' '), rest.size());
    std::string_view name = rest.substr(0, blank), format = base::trim(rest.substr(blank));
    if (!is_token(name)) return not_a_put(text, "it names no header field");
    if (is_reserved(name)) return not_a_put(text, "this field frames the request");
    if (format.empty()) format = kValue;
    size_t at = format.find(kValue);
    if (at == std::string_view::npos || format.find(kValue, at + 1) != std::string_view::npos)
        return not_a_put(text, "the format needs {} once");
    if (!is_plain_text(format)) return not_a_put(text, "the format is not plain ASCII");
    return Put{.kind = Put::Kind::header,
               .name = std::string(name),
               .before = std::string(format.substr(0, at)),
               .after = std::string(format.substr(at + kValue.size()))};
}

Result<Put> parse_path(std::string_view text, std::string_view rest) {
    size_t at = rest.find(kValue);
    bool is_whole = rest.starts_with('/') && rest.ends_with('/') && at != std::string_view::npos &&
                    rest.find(kValue, at + 1) == std::string_view::npos;
    std::string probe(rest);
    if (is_whole) probe.replace(at, kValue.size(), "x");
    requests::CanonicalPath path;
    if (!is_whole || !requests::read_target(probe, path).empty())
        return not_a_put(text, "the path starts and ends with '/' and has {} once");
    return Put{.kind = Put::Kind::path,
               .name = {},
               .before = std::string(rest.substr(0, at)),
               .after = std::string(rest.substr(at + kValue.size()))};
}

Result<Put> parse_put(std::string_view text) {
    size_t blank = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, blank), rest = base::trim(text.substr(blank));
    if (word == "header") return parse_header(text, rest);
    if (word == "path") return parse_path(text, rest);
    if (word == "basic") {
        bool is_user = !rest.empty() && is_plain_text(rest) && rest.find(':') == std::string_view::npos;
        if (!is_user) return not_a_put(text, "basic needs a user, or * for any");
        return Put{.kind = Put::Kind::basic, .name = std::string(rest)};
    }
    if (word == "query") {
        if (!is_token(rest) || rest.find_first_of("&=%+#") != std::string_view::npos)
            return not_a_put(text, "query needs the name of a parameter");
        return Put{.kind = Put::Kind::query, .name = std::string(rest)};
    }
    if (word == "body") {
        if (!is_token(rest)) return not_a_put(text, "body needs the name of a field");
        return Put{.kind = Put::Kind::body, .name = std::string(rest)};
    }
    if (text == "bearer") return Put{.kind = Put::Kind::bearer};
    if (text == "git") return Put{.kind = Put::Kind::git};
    if (text == "sigv4") return Put{.kind = Put::Kind::sigv4};
    return not_a_put(text, "the word is unknown");
}

// The part of `text` after the scheme, if it begins with it.
std::optional<std::string_view> after_scheme(std::string_view text, std::string_view scheme) {
    bool has_scheme =
        text.size() > scheme.size() && base::starts_ignoring_case(text, scheme) && text[scheme.size()] == ' ';
    if (!has_scheme) return std::nullopt;
    return base::trim(text.substr(scheme.size()));
}

// Some clients leave the padding out.
std::optional<std::string> decoded_basic(std::string_view value) {
    std::optional<std::string_view> coded = after_scheme(value, "Basic");
    if (!coded) return std::nullopt;
    std::string text(*coded);
    while (text.size() % 4 != 0 && text.size() < coded->size() + 2) text += '=';
    return base::from_base64(text);
}

Replacement basic_replacement(std::string before, std::string after) {
    return {.before = "Basic ",
            .after = "",
            .encoding = {Encoding::Kind::base64, std::move(before), std::move(after)}};
}

// Threat: the agent sends its own token beside the placeholder, and a server that reads both parts uses that
// account (tests/exchange/swap_test.cc).
bool is_plain_user(std::string_view user) {
    constexpr size_t kLongestUser = 64, kShortestToken = 20;
    constexpr std::string_view kTokens[] = {"ghp_",      "gho_",      "ghu_",  "ghs_", "ghr_",  "github_pat_",
                                            "glpat-",    "gldt-",     "glrt-", "npm_", "pypi-", "hf_",
                                            "dckr_pat_", "dckr_oat_", "sk-",   "xox",  "AIza",  "eyJ"};
    bool is_name = user.size() <= kLongestUser && std::ranges::all_of(user, [](char letter) {
                       return base::is_letter(letter) || base::is_digit(letter) ||
                              std::string_view("-_.@+$").find(letter) != std::string_view::npos;
                   });
    bool begins_as_token =
        user.size() >= kShortestToken &&
        std::ranges::any_of(kTokens, [&](std::string_view start) { return user.starts_with(start); });
    return is_name && !begins_as_token;
}

std::optional<Replacement> match_basic(const Put& put, std::string_view value, std::string_view placeholder) {
    std::optional<std::string> plain = decoded_basic(value);
    size_t colon = plain ? plain->find(':') : std::string::npos;
    if (colon == std::string::npos) return std::nullopt;
    std::string user = plain->substr(0, colon), password = plain->substr(colon + 1);
    bool is_git = put.kind == Put::Kind::git;
    bool is_any_user = is_git || put.name == "*";
    bool is_user = is_any_user ? is_plain_user(user) : user == put.name;
    if (is_user && base::equals_in_constant_time(password, placeholder))
        return basic_replacement(user + ":", "");
    // The token as the user's name, as git and curl send it for some servers.
    bool is_alone = password.empty() || password == "x-oauth-basic";
    if (is_any_user && is_alone && base::equals_in_constant_time(user, placeholder))
        return basic_replacement("", ":" + password);
    return std::nullopt;
}

std::string json_text(std::string_view text) {
    std::string coded;
    coded.reserve(2 * text.size());
    for (char letter : text) {
        if (letter == '"' || letter == '\\') coded += '\\';
        coded += letter;
    }
    return coded;
}

// The values of the parameter, by position in the target.
struct Parameter {
    size_t at, size;
};
std::vector<Parameter> parameters_named(std::string_view target, std::string_view name) {
    std::vector<Parameter> found;
    size_t mark = target.find('?');
    if (mark == std::string_view::npos) return found;
    for (size_t at = mark + 1; at <= target.size();) {
        size_t end = std::min(target.find_first_of("&;", at), target.size());
        std::string_view pair = target.substr(at, end - at);
        size_t equals = std::min(pair.find('='), pair.size());
        if (base::percent_decoded(pair.substr(0, equals)) == name) {
            size_t start = std::min(equals + 1, pair.size());
            found.push_back({at + start, pair.size() - start});
        }
        at = end + 1;
    }
    return found;
}

// The segment at the place of a path's value.
std::optional<Parameter> part_of_path(const Put& put, std::string_view target) {
    std::string_view path = target.substr(0, target.find('?'));
    if (!path.starts_with(put.before)) return std::nullopt;
    size_t end = path.find('/', put.before.size());
    if (end == std::string_view::npos) return std::nullopt;
    // The text after the value up to the slash belongs to the format.
    std::string_view tail = std::string_view(put.after).substr(0, put.after.find('/'));
    size_t size = end - put.before.size();
    if (size < tail.size() || !path.substr(end - tail.size()).starts_with(put.after)) return std::nullopt;
    return Parameter{put.before.size(), size - tail.size()};
}

std::vector<Parameter> places_in_target(const Put& put, std::string_view target) {
    if (put.kind == Put::Kind::query) return parameters_named(target, put.name);
    if (put.kind != Put::Kind::path) return {};
    std::optional<Parameter> part = part_of_path(put, target);
    return part ? std::vector{*part} : std::vector<Parameter>();
}

// The name of a protocol with a token behind this text.
struct TokenName {
    std::string_view start;
    bool is_coded;
};
constexpr TokenName kTokenNames[] = {{"openai-insecure-api-key.", false},
                                     {"base64url.bearer.authorization.k8s.io.", true}};

struct FoundToken {
    size_t at, size;
    bool is_coded;
};
std::vector<FoundToken> subprotocol_tokens(std::string_view value) {
    std::vector<FoundToken> found;
    for (std::string_view part : base::split(value, ',')) {
        std::string_view name = base::trim(part);
        for (const TokenName& token : kTokenNames) {
            if (!base::starts_ignoring_case(name, token.start)) continue;
            std::string_view text = name.substr(token.start.size());
            found.push_back({static_cast<size_t>(text.data() - value.data()), text.size(), token.is_coded});
        }
    }
    return found;
}

std::string to_base64url(std::string_view bytes) {
    std::string coded = base::to_base64(bytes);
    std::ranges::replace(coded, '+', '-');
    std::ranges::replace(coded, '/', '_');
    while (coded.ends_with('=')) coded.pop_back();
    return coded;
}

}  // namespace

size_t count_subprotocol_tokens(std::string_view value) {
    return subprotocol_tokens(value).size();
}

std::optional<Replacement> match_subprotocol(std::string_view value, std::string_view placeholder) {
    std::vector<FoundToken> tokens = subprotocol_tokens(value);
    if (tokens.size() != 1) return std::nullopt;
    const FoundToken& token = tokens.front();
    std::string expected = token.is_coded ? to_base64url(placeholder) : std::string(placeholder);
    std::string_view text = value.substr(token.at, token.size);
    while (token.is_coded && text.ends_with('=')) text.remove_suffix(1);
    if (!base::equals_in_constant_time(text, expected)) return std::nullopt;
    return Replacement{
        .before = std::string(value.substr(0, token.at)),
        .after = std::string(value.substr(token.at + token.size)),
        .encoding = {token.is_coded ? Encoding::Kind::base64url : Encoding::Kind::plain, "", ""}};
}

std::string_view Put::field() const {
    switch (kind) {
        case Kind::bearer:
        case Kind::basic:
        case Kind::git:
        case Kind::sigv4:
            return kAuthorization;
        case Kind::header:
            return name;
        case Kind::query:
        case Kind::path:
        case Kind::body:
            return {};
    }
    return {};
}

Result<std::vector<Put>> parse_puts(std::string_view text) {
    std::vector<Put> puts;
    std::string_view rest = text;
    for (;;) {
        size_t end = std::min(rest.find(kSeparator), rest.size());
        Result<Put> put = parse_put(base::trim(rest.substr(0, end)));
        if (!put) return put.error();
        puts.push_back(*std::move(put));
        if (end == rest.size()) break;
        rest.remove_prefix(end + kSeparator.size());
    }
    bool signs = std::ranges::find(puts, Put::Kind::sigv4, &Put::kind) != puts.end();
    if (signs && puts.size() > 1) return not_a_put(text, "sigv4 stands alone");
    return puts;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string coded;
    coded.reserve(3 * text.size());
    for (char letter : text) {
        auto byte = static_cast<unsigned char>(letter);
        if (base::is_letter(letter) || base::is_digit(letter) ||
            kept.find(letter) != std::string_view::npos) {
            coded += letter;
            continue;
        }
        coded += '%';
        coded += kDigits[byte >> 4];
        coded += kDigits[byte & 15];
    }
    return coded;
}

void Encoding::append(base::SecretValue& head, const base::SecretValue& value) const {
    if (kind == Kind::plain) {
        head.append(before).append(value).append(after);
        return;
    }
    if (kind == Kind::fixed) {
        head.append(before);
        return;
    }
    if (kind == Kind::aws_token) {
        if (std::optional<AwsKeys> keys = AwsKeys::split(value)) head.append(keys->token);
        return;
    }
    base::SecretValue whole;
    whole.append(before).append(value).append(after);
    // The encoders reserve their result, so that no copy of it stays behind.
    std::string coded = whole.reveal([&](std::string_view bytes) {
        if (kind == Kind::json) return json_text(bytes);
        if (kind == Kind::percent) return percent_encoded(bytes);
        return kind == Kind::base64 ? base::to_base64(bytes) : to_base64url(bytes);
    });
    head.append(coded);
    base::wipe(coded);
}

std::optional<Replacement> match_field(const Put& put, std::string_view value, std::string_view placeholder,
                                       bool is_git_path) {
    if (put.kind == Put::Kind::bearer) {
        for (std::string_view scheme : {"Bearer", "token"}) {
            std::optional<std::string_view> rest = after_scheme(value, scheme);
            if (rest && base::equals_in_constant_time(*rest, placeholder))
                return Replacement{.before = std::string(scheme) + " "};
        }
        return std::nullopt;
    }
    if (put.kind == Put::Kind::header) {
        bool is_around = value.size() == put.before.size() + placeholder.size() + put.after.size() &&
                         value.starts_with(put.before) && value.ends_with(put.after);
        if (!is_around) return std::nullopt;
        if (!base::equals_in_constant_time(value.substr(put.before.size(), placeholder.size()), placeholder))
            return std::nullopt;
        return Replacement{.before = put.before, .after = put.after};
    }
    if (put.kind == Put::Kind::git && !is_git_path) return std::nullopt;
    if (put.kind == Put::Kind::basic || put.kind == Put::Kind::git)
        return match_basic(put, value, placeholder);
    return std::nullopt;
}

std::optional<Replacement> match_target(const Put& put, std::string_view target,
                                        std::string_view placeholder) {
    for (const Parameter& place : places_in_target(put, target)) {
        std::string plain = base::percent_decoded(target.substr(place.at, place.size));
        if (!base::equals_in_constant_time(plain, placeholder)) continue;
        return Replacement{.before = std::string(target.substr(0, place.at)),
                           .after = std::string(target.substr(place.at + place.size)),
                           .encoding = {Encoding::Kind::percent, "", ""}};
    }
    return std::nullopt;
}

bool has_other_in_target(const Put& put, std::string_view target, std::string_view placeholder) {
    std::vector<Parameter> places = places_in_target(put, target);
    // A server may read either of two parameters with one name.
    if (places.size() > 1) return true;
    // A server may decode the path before it looks for the value.
    if (put.kind == Put::Kind::path) {
        std::string path = base::percent_decoded(target.substr(0, target.find('?')));
        std::optional<Parameter> part = part_of_path(put, path);
        if (part && (places.empty() || std::string_view(path).substr(part->at, part->size) != placeholder))
            return true;
    }
    return std::ranges::any_of(places, [&](const Parameter& place) {
        return base::percent_decoded(target.substr(place.at, place.size)) != placeholder;
    });
}

std::optional<Addition> addition_of(const Put& put, bool is_git_path) {
    switch (put.kind) {
        case Put::Kind::bearer:
            return Addition{std::string(kAuthorization), {.before = "Bearer "}};
        case Put::Kind::header:
            return Addition{put.name, {.before = put.before, .after = put.after}};
        case Put::Kind::basic:
            if (put.name == "*") return std::nullopt;
            return Addition{std::string(kAuthorization), basic_replacement(put.name + ":", "")};
        case Put::Kind::git:
            if (!is_git_path) return std::nullopt;
            return Addition{std::string(kAuthorization), basic_replacement(std::string(kGitUser) + ":", "")};
        case Put::Kind::query:
        case Put::Kind::path:
        case Put::Kind::sigv4:
        case Put::Kind::body:
            return std::nullopt;
    }
    return std::nullopt;
}

bool is_git_path(const requests::CanonicalPath& path) {
    return requests::git_target(path).service != requests::GitService::none;
}

}  // namespace network::exchange
