// SPDX-License-Identifier: MIT
// Where the value of a credential goes in a request.
//
//   bearer               Authorization: Bearer VALUE (or "token VALUE", if the client wrote that)
//   header NAME [FORMAT] a header field; {} in FORMAT is the value
//   basic USER           Authorization: Basic, with this user; * is any user
//   query NAME           a parameter of the query, percent-encoded
//   git                  Authorization: Basic on the paths of git over HTTPS
//   path /bot{}/         a part of the path
//   sigv4                the signature of AWS (sigv4.h); alone
//   body NAME            a field of the body, at the endpoints of `issues` alone (tokens.h)
//
// Several are separated by " or ": a client may use any of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"
#include "network/requests/path.h"

namespace network::exchange {

struct Put {
    enum class Kind { bearer, header, basic, query, git, path, sigv4, body };

    Kind kind = Kind::bearer;
    std::string name;  // of the header field or the parameter; the user of basic; the field of the body
    std::string before, after;  // the text around the value, for header and path

    // The header field, or empty for query, path and body.
    std::string_view field() const;
};

base::Result<std::vector<Put>> parse_puts(std::string_view text);

// How the value is written at one place of the head.
struct Encoding {
    // base64url: without padding. fixed: `before` alone. aws_token: the token of an AWS key, which may be
    // empty.
    enum class Kind { plain, percent, base64, base64url, json, fixed, aws_token };
    Kind kind = Kind::plain;
    std::string before, after;  // encoded together with the value

    void append(base::SecretValue& head, const base::SecretValue& value) const;
};

// The head's text around one value, and the value's encoding.
struct Replacement {
    std::string before, after;
    Encoding encoding;
};

// Whether the field's value is this placeholder in the form of `put`: the text to write in its place.
// `git_path`: the request is one of git.
std::optional<Replacement> match_field(const Put& put, std::string_view value, std::string_view placeholder,
                                       bool is_git_path);
// The field in which programs that can set no other one, as in a browser, send a token: it is a part of the
// name of a protocol of a WebSocket, plain at OpenAI and in base64 at Kubernetes. How many names are tokens:
constexpr std::string_view kSubprotocols = "Sec-WebSocket-Protocol";
size_t count_subprotocol_tokens(std::string_view value);
// The text to write in place of the only token, if it is the placeholder.
std::optional<Replacement> match_subprotocol(std::string_view value, std::string_view placeholder);
// The same for the target of the request: query and path.
std::optional<Replacement> match_target(const Put& put, std::string_view target,
                                        std::string_view placeholder);
// Whether the target has a value at this place that is not the placeholder.
bool has_other_in_target(const Put& put, std::string_view target, std::string_view placeholder);

// For a request without any credential: the field to add. Nothing for a put that can't be added.
struct Addition {
    std::string field;
    Replacement replacement;
};
std::optional<Addition> addition_of(const Put& put, bool is_git_path);

// Paths of git over HTTPS and of git-LFS.
bool is_git_path(const requests::CanonicalPath& path);

// Letters, digits and those of `kept` stay.
std::string percent_encoded(std::string_view text, std::string_view kept = "-._~");

}  // namespace network::exchange
