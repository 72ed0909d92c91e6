// SPDX-License-Identifier: MIT
#include "network/wire/http/http_response.h"

#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "base/text.h"

namespace network::wire {
namespace {

constexpr std::string_view kResponseStatus = "the response does not start with an HTTP/1 status";
constexpr std::string_view kResponseField = "a header field of the response is malformed";
constexpr std::string_view kResponseManyFields = "the response has more than 128 header fields";
constexpr std::string_view kResponseLength = "the response has not one well-formed Content-Length";
constexpr std::string_view kResponseBoth = "the response has both Content-Length and Transfer-Encoding";
constexpr std::string_view kResponseCoding = "the response has a transfer coding other than chunked";
constexpr std::string_view kResponseUpgrade = "the response frames a body although it has none";

// Statuses whose responses never have a body.
bool is_without_body(int status) {
    return status < 200 || status == 204 || status == 304;
}

std::string_view read_framing(bool answers_head, HttpResponse& response) {
    bool has_two_lengths = false, has_two_codings = false;
    const HttpField* length = find_http_field(response.fields, "Content-Length", has_two_lengths);
    const HttpField* coding = find_http_field(response.fields, "Transfer-Encoding", has_two_codings);
    if (length && coding) return kResponseBoth;
    if (coding) {
        bool is_chunked = !has_two_codings && base::equals_ignoring_case(coding->value, "chunked");
        if (!is_chunked || response.minor_version == 0) return kResponseCoding;
    }
    std::optional<uint64_t> number;
    if (length) {
        number = base::parse_number<uint64_t>(length->value);
        if (has_two_lengths || !number || *number > INT64_MAX) return kResponseLength;
    }
    // A client could take bytes after such a head for a body.
    bool is_empty_by_status = is_without_body(response.status) && response.status != 304;
    if (is_empty_by_status && (coding || number.value_or(0) > 0)) return kResponseUpgrade;
    if (answers_head || is_without_body(response.status)) {
        response.framing = HttpBody::Framing::none;
    } else if (coding) {
        response.framing = HttpBody::Framing::chunked;
    } else if (number) {
        response.framing = HttpBody::Framing::sized;
        response.length = *number;
    } else {
        response.framing = HttpBody::Framing::until_close;
    }
    return {};
}

void read_persistence(HttpResponse& response) {
    bool closes = false, keeps = false;
    for (const HttpField& field : response.fields) {
        if (!base::equals_ignoring_case(field.name, "Connection")) continue;
        for (std::string_view token : base::split(field.value, ',')) {
            closes |= base::equals_ignoring_case(base::trim(token), "close");
            keeps |= base::equals_ignoring_case(base::trim(token), "keep-alive");
        }
    }
    bool has_end = response.framing != HttpBody::Framing::until_close;
    response.keeps_alive = has_end && !closes && (response.minor_version == 1 || keeps);
}

}  // namespace

std::string_view parse_http_response(std::string_view head, bool answers_head, HttpResponse& response) {
    response = {};
    response.head_size = head.size();
    size_t end = head.find("\r\n");
    if (end == std::string_view::npos || !head.ends_with("\r\n\r\n")) return kResponseStatus;
    std::string_view line = head.substr(0, end);
    constexpr size_t kVersionDigit = 7, kPhrase = 13;  // "HTTP/1.x NNN phrase"
    response.status = parse_http_status(line);
    if (response.status == 0) return kResponseStatus;
    response.minor_version = line[kVersionDigit] - '0';
    response.reason = line.substr(std::min(kPhrase, line.size()));
    if (const HttpFault* fault = parse_http_fields(head.substr(end + 2), response.fields))
        return fault->status == 431 ? kResponseManyFields : kResponseField;
    if (std::string_view fault = read_framing(answers_head, response); !fault.empty()) return fault;
    read_persistence(response);
    return {};
}

HttpResponseHead::State HttpResponseHead::look(std::string_view received) {
    if (state_ != State::need_more) return state_;
    size_t head_size = 0;
    if (const HttpFault* fault = scanner_.look(received, head_size)) {
        fault_ = fault->reason;
        return state_ = State::refused;
    }
    if (head_size == 0) return state_;
    fault_ = parse_http_response(received.substr(0, head_size), answers_head_, response_);
    return state_ = fault_.empty() ? State::complete : State::refused;
}

}  // namespace network::wire
