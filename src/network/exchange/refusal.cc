// SPDX-License-Identifier: MIT
#include "network/exchange/refusal.h"

#include <algorithm>
#include <iterator>

#include "base/encoding/json.h"
#include "base/text.h"

namespace network::exchange {
namespace {

struct CodeRow {
    Code code;
    std::string_view text;
    int status;
    std::string_view error;
    bool may_retry;
};

constexpr CodeRow kCodes[] = {
    {Code::malformed, "malformed", 400, "the sandbox's gateway refuses this request as malformed", false},
    {Code::request_refused, "request_refused", 403, "refused by the sandbox's rules about requests", false},
    {Code::request_denied, "request_denied", 403, "the user of the sandbox did not approve this request",
     false},
    {Code::placeholder_elsewhere, "placeholder_elsewhere", 403,
     "the request carries the placeholder of a credential to another host", false},
    {Code::outside_the_binding, "outside_the_binding", 403,
     "the request carries the placeholder of a credential to a place that it is not for", false},
    {Code::foreign_credential, "foreign_credential", 403,
     "the request carries a credential that is not the sandbox's own", false},
    {Code::signature_refused, "signature_refused", 403, "the sandbox can't sign this request anew", false},
    {Code::path_not_canonical, "path_not_canonical", 400, "the path can be read in several ways", false},
    {Code::host_mismatch, "host_mismatch", 421, "the request names another host than its connection", false},
    {Code::body_too_large, "body_too_large", 413, "the body is too large for the rules that read it", false},
    {Code::credential_unavailable, "credential_unavailable", 502, "the credential could not be read", true},
    {Code::upstream_not_trusted, "upstream_not_trusted", 502, "the host could not be verified", false},
    {Code::answer_malformed, "answer_malformed", 502, "the host's answer is malformed", true},
};

struct Phrase {
    int status;
    std::string_view text;
};
constexpr Phrase kPhrases[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {413, "Content Too Large"},
    {421, "Misdirected Request"},
    {431, "Request Header Fields Too Large"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {505, "HTTP Version Not Supported"},
};

const CodeRow& row_of(Code code) {
    return *std::ranges::find(kCodes, code, &CodeRow::code);
}

std::string_view phrase_of(int status) {
    const Phrase* phrase = std::ranges::find(kPhrases, status, &Phrase::status);
    return phrase == std::end(kPhrases) ? "Error" : phrase->text;
}

}  // namespace

std::string_view to_text(Code code) {
    return row_of(code).text;
}

int Refusal::http_status() const {
    return status != 0 ? status : row_of(code).status;
}

Refusal refusal_of(const requests::Verdict& verdict) {
    Refusal refusal{
        .code = verdict.code == "path_not_canonical" ? Code::path_not_canonical : Code::request_refused,
        .reason = verdict.reason,
        .change = verdict.change,
        .git = verdict.git};
    if (verdict.rule != nullptr) {
        refusal.rule = verdict.rule->described();
        refusal.origin = verdict.rule->origin.describe();
    }
    return refusal;
}

Refusal push_refusal_of(const requests::PushVerdict& push, const requests::PushReader& reader) {
    Refusal refusal = refusal_of(push.verdict);
    refusal.git = requests::GitService::push;
    requests::GitAnswer answer = requests::push_refusal(reader, push.reasons);
    refusal.git_body = std::move(answer.body);
    refusal.git_content_type = std::move(answer.content_type);
    return refusal;
}

namespace {

std::string in_xml(std::string_view text) {
    std::string escaped;
    for (char letter : text) {
        if (letter == '&') {
            escaped += "&amp;";
        } else if (letter == '<') {
            escaped += "&lt;";
        } else if (letter == '>') {
            escaped += "&gt;";
        } else {
            escaped += letter;
        }
    }
    return escaped;
}

// Clients of AWS show Code and Message.
std::string aws_error(AwsForm form, std::string_view code, std::string_view message) {
    std::string error = base::format("<Error><Type>Sender</Type><Code>{}</Code><Message>{}</Message></Error>",
                                     code, in_xml(message));
    std::string start = R"(<?xml version="1.0" encoding="UTF-8"?>)";
    return form == AwsForm::s3_xml
               ? start + error + "\n"
               : base::format("{}<ErrorResponse>{}<RequestId>agent-sandbox</RequestId></ErrorResponse>\n",
                              start, error);
}

}  // namespace

std::string refusal_answer(const Refusal& refusal, bool answers_head) {
    const CodeRow& row = row_of(refusal.code);
    int status = refusal.http_status();
    std::string type = "application/json", body;
    std::string described =
        refusal.reason.empty() ? std::string(row.error) : base::format("{}: {}", row.error, refusal.reason);
    if (refusal.is_for_git()) {
        status = 200;
        requests::GitAnswer answer{refusal.git_content_type, refusal.git_body};
        if (answer.body.empty()) answer = requests::git_refusal(refusal.git, refusal.reason);
        type = answer.content_type;
        body = answer.body;
    } else if (refusal.aws && *refusal.aws != AwsForm::json) {
        type = "application/xml";
        body = aws_error(*refusal.aws, row.text, described);
    } else {
        base::Json object = base::Json::object();
        // npm prints `error` and gh prints `message`, so both say why.
        object.set("error", described);
        object.set("message", described);
        if (refusal.aws) object.set("__type", row.text);
        if (!refusal.rule.empty()) object.set("rule", refusal.rule);
        if (!refusal.origin.empty()) object.set("origin", refusal.origin);
        object.set("reason", refusal.reason);
        if (!refusal.change.empty()) object.set("change", refusal.change);
        object.set("do_not_retry", !row.may_retry);
        body = object.dump(-1) + "\n";
    }
    std::string answer = base::format(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\nx-agent-sandbox: {}\r\n"
        "Connection: close\r\nContent-Length: {}\r\n\r\n",
        status, phrase_of(status), type, row.text, body.size());
    if (!answers_head) answer += body;
    return answer;
}

}  // namespace network::exchange
