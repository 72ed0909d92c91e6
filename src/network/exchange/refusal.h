// SPDX-License-Identifier: MIT
// The gateway's own answers to requests that it does not forward: a status, the header field x-agent-sandbox
// with a code, and JSON with the reason and the command that changes it. git gets its own protocol.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/exchange/sigv4.h"
#include "network/requests/git.h"
#include "network/requests/rules.h"

namespace network::exchange {

enum class Code {
    malformed,               // the HTTP reader's own status
    request_refused,         // 403, by a rule
    request_denied,          // 403, the user answered no or not at all
    placeholder_elsewhere,   // 403
    outside_the_binding,     // 403
    foreign_credential,      // 403
    signature_refused,       // 403, of AWS, and not of a kind that can be made anew
    path_not_canonical,      // 400
    host_mismatch,           // 421
    body_too_large,          // 413, of a body that must be read whole
    credential_unavailable,  // 502, the source failed
    upstream_not_trusted,    // 502, the certificate of the host
    answer_malformed,        // 502
};

std::string_view to_text(Code code);

struct Refusal {
    Code code = Code::malformed;
    int status = 0;  // 0: the code's own
    std::string reason;
    std::string rule, origin, change;  // may be empty
    requests::GitService git = requests::GitService::none;
    std::string git_body;          // of a refused push
    std::string git_content_type;  // with git_body
    std::optional<AwsForm> aws;    // the client expects an error of AWS

    int http_status() const;
    // Sent as git's protocol, with status 200. The rest of the request's body must be read before the
    // connection is closed, or git reports the closed connection instead of the reason.
    bool is_for_git() const { return git != requests::GitService::none; }
};

Refusal refusal_of(const requests::Verdict& verdict);
// A push: the reasons for its refs are in the answer.
Refusal push_refusal_of(const requests::PushVerdict& push, const requests::PushReader& reader);

// A complete response with "Connection: close".
std::string refusal_answer(const Refusal& refusal, bool answers_head);

}  // namespace network::exchange
