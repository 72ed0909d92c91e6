// SPDX-License-Identifier: MIT
#include "network/gateway/connections/client_filter.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "network/gateway/broker/broker.h"
#include "network/wire/http/http_exchange.h"

namespace network::gateway {

using wire::HttpBody;
using wire::HttpHeadReader;
using wire::HttpRequest;
using wire::HttpResponseReader;

namespace {

constexpr std::string_view kEmptyLine = "\r\n\r\n";
constexpr int kSwitching = 101;

bool has_upgrade(const HttpRequest& request) {
    return std::ranges::any_of(request.fields, [](const wire::HttpField& field) {
        return base::equals_ignoring_case(field.name, "Upgrade");
    });
}

}  // namespace

void HttpStream::refuse(Objection objection) {
    objection_ = std::move(objection);
    state_ = State::refused;
}

void HttpStream::refuse(int status, std::string_view reason) {
    refuse({.reason = std::string(reason), .http_status = status});
}

HttpStream::State HttpStream::take(std::string_view bytes, const Expectation& expected, std::string& onward) {
    while (!bytes.empty() && state_ == State::open) {
        // After a request that closes the connection the server stops reading, and so does this reader.
        if (is_last_ && !body_) return state_;
        bytes = body_ ? take_body(bytes, onward) : take_head(bytes, expected, onward);
    }
    if (state_ == State::waiting_for_reply) held_ += bytes;
    return state_;
}

std::string_view HttpStream::take_body(std::string_view bytes, std::string& onward) {
    size_t taken = body_->take(bytes);
    onward += bytes.substr(0, taken);
    if (body_->state() == HttpBody::State::malformed) refuse(400, "the chunks of the body are malformed");
    if (body_->state() == HttpBody::State::complete) body_.reset();
    return bytes.substr(taken);
}

std::string_view HttpStream::take_head(std::string_view bytes, const Expectation& expected,
                                       std::string& onward) {
    size_t end = bytes.find(kEmptyLine);
    size_t taken = end == std::string_view::npos ? bytes.size() : end + kEmptyLine.size();
    head_ += bytes.substr(0, taken);
    HttpHeadReader::State state = reader_.look(head_);
    if (state == HttpHeadReader::State::need_more) return bytes.substr(taken);
    answers_head_ = head_.starts_with("HEAD ");
    if (state == HttpHeadReader::State::refused) {
        refuse(reader_.fault().status, reader_.fault().reason);
        return {};
    }
    const HttpRequest& request = reader_.request();
    judge(request, expected);
    if (state_ == State::refused) return {};
    size_t behind = head_.size() - request.head_size;
    send_on(request, onward);
    head_.clear();
    reader_ = {};
    return bytes.substr(taken - behind);
}

// Threat: the jail sends a placeholder to a host that it is not for. The placeholder has no value there, but
// this is how a stolen credential would leave (tests/egress/credentials.bats).
const exchange::Binding* HttpStream::find_placeholder(const HttpRequest& request, const Broker& broker) {
    std::optional<size_t> found = broker.finder().find(request.path);
    for (const wire::HttpField& field : request.fields) {
        if (!found) found = broker.finder().find(base::format("{}: {}", field.name, field.value));
    }
    return found ? &broker.bindings()[*found] : nullptr;
}

void HttpStream::judge(const HttpRequest& request, const Expectation& expected) {
    if (request.form == HttpRequest::Form::authority) {
        return refuse(403, "CONNECT through a server that is not a proxy of the sandbox");
    }
    if (request.wants_websocket && requests_ > 0) {
        return refuse(400, "a websocket needs a connection of its own here");
    }
    if (expected.broker != nullptr) {
        if (const exchange::Binding* binding = find_placeholder(request, *expected.broker))
            return refuse({.cause = "placeholder",
                           .reason = base::format("the placeholder of the credential '{}' is in a request to "
                                                  "a host that it is not for",
                                                  binding->name)});
    }
    const std::optional<wire::Authority>& said = request.target ? request.target : request.host;
    // HTTP/1.0 may lack a host; the request is then for the connection's target.
    if (!said) return;
    wire::Authority authority = *said;
    constexpr uint16_t kUsualPort = 80;
    if (request.target && !authority.port) authority.port = kUsualPort;
    if (auto objection = judge_authority(expected, authority)) refuse(std::move(*objection));
}

void HttpStream::send_on(const HttpRequest& request, std::string& onward) {
    ++requests_;
    is_last_ = !takes_many_ || !request.keeps_alive;
    bool is_rewritten = !takes_many_ || request.form == HttpRequest::Form::absolute ||
                        (has_upgrade(request) && !request.wants_websocket);
    if (is_rewritten) {
        onward += forwarded_head(request, takes_many_);
    } else {
        onward.append(head_, 0, request.head_size);
    }
    if (request.body != HttpRequest::Body::none) body_.emplace(request);
    if (request.wants_websocket) state_ = State::waiting_for_reply;
}

HttpStream::State HttpStream::take_reply(std::string_view bytes, const Expectation& expected,
                                         std::string& onward) {
    reply_ += bytes;
    while (state_ == State::waiting_for_reply) {
        HttpResponseReader::State state = reply_reader_.look(reply_);
        if (state == HttpResponseReader::State::need_more) return state_;
        int status = state == HttpResponseReader::State::complete ? reply_reader_.status() : 0;
        bool is_only_a_word = status >= 100 && status < 200 && status != kSwitching;
        reply_.erase(0, reply_reader_.head_size());
        reply_reader_ = {};
        if (is_only_a_word) continue;
        std::string().swap(reply_);
        std::string held = std::exchange(held_, {});
        state_ = status == kSwitching ? State::raw : State::open;
        if (state_ == State::raw) {
            onward += held;
        } else {
            take(held, expected, onward);
        }
    }
    return state_;
}

using wire::Protocol;

Guard::State Guard::adopt(HttpStream::State state) {
    switch (state) {
        case HttpStream::State::open:
            return state_ = State::judging;
        case HttpStream::State::waiting_for_reply:
            return state_ = State::waiting_for_reply;
        case HttpStream::State::raw:
            return state_ = State::passed;
        case HttpStream::State::refused:
            break;
    }
    return state_ = State::refused;
}

Guard::State Guard::take(std::string_view bytes, std::string& onward) {
    if (http_) return pass_on_http(bytes, onward);
    held_ += bytes;
    return state_ == State::waiting_for_reply ? state_ : look(onward);
}

Guard::State Guard::look(std::string& onward) {
    switch (first_flight_.look(held_, expected_)) {
        case FirstFlight::State::need_more:
            state_ = State::judging;
            if (first_flight_.protocol() == Protocol::undecided) release_beginning(onward);
            return state_;
        case FirstFlight::State::wait:
            return send_judged(onward);
        case FirstFlight::State::refused:
            return state_ = State::refused;
        case FirstFlight::State::pass:
            onward += std::exchange(held_, {}).substr(released_.size());
            return state_ = State::passed;
        case FirstFlight::State::http:
            break;
    }
    if (is_long_) return refuse(431, "the request line is longer than 16 KiB");
    http_ = std::make_unique<HttpStream>(requests_);
    return pass_on_http(std::exchange(held_, {}), onward);
}

Guard::State Guard::refuse(int status, std::string_view reason) {
    objection_ = Objection{.reason = std::string(reason), .http_status = status};
    return state_ = State::refused;
}

Guard::State Guard::send_judged(std::string& onward) {
    size_t end = first_flight_.judged();
    onward.append(held_, released_.size(), end - released_.size());
    held_.erase(0, end);
    released_.clear();
    return state_ = State::waiting_for_reply;
}

Guard::State Guard::take_answer(std::string_view bytes, std::string& onward) {
    switch (first_flight_.look_at_reply(bytes, expected_)) {
        case FirstFlight::State::need_more:
            return state_;
        case FirstFlight::State::wait:
        case FirstFlight::State::http:
            return look(onward);
        case FirstFlight::State::pass:
            onward += std::exchange(held_, {});
            return state_ = State::passed;
        case FirstFlight::State::refused:
            break;
    }
    return state_ = State::refused;
}

// The forwarded head must begin with the bytes that have passed already.
Guard::State Guard::pass_on_http(std::string_view bytes, std::string& onward) {
    if (released_.empty()) return adopt(http_->take(bytes, expected_, onward));
    std::string head;
    adopt(http_->take(bytes, expected_, head));
    if (head.empty()) return state_;
    if (!head.starts_with(released_)) return refuse(400, "the request is malformed");
    onward.append(head, released_.size());
    released_.clear();
    return state_;
}

// Passes everything but a target with a scheme, which is rewritten.
void Guard::release_beginning(std::string& onward) {
    constexpr std::string_view kScheme = "http:";
    if (!first_flight_.takes_unknown()) {
        if (held_.size() >= wire::kMaximumGuessBytes) refuse(431, "the first line is longer than 16 KiB");
        return;
    }
    size_t word = held_.find(' ');
    std::string_view target = word == std::string::npos ? "" : std::string_view(held_).substr(word + 1);
    size_t compared = std::min(target.size(), kScheme.size());
    bool may_have_scheme =
        compared > 0 && base::equals_ignoring_case(target.substr(0, compared), kScheme.substr(0, compared));
    if (may_have_scheme) return;
    onward.append(held_, released_.size());
    released_ = held_;
    if (!is_long_ && held_.size() < wire::kMaximumGuessBytes) return;
    is_long_ = true;
    held_.clear();
    released_.clear();
    first_flight_.drop_looked();
}

Guard::State Guard::take_reply(std::string_view bytes, std::string& onward) {
    return http_ ? adopt(http_->take_reply(bytes, expected_, onward)) : take_answer(bytes, onward);
}

Guard::State Guard::take_end(std::string& onward) {
    bool is_waiting = state_ == State::waiting_for_reply && !http_;
    // Nothing is left to judge, and the server must see the end of file.
    if (is_waiting && held_.empty()) return state_ = State::passed;
    if (is_waiting || first_flight_.protocol() != Protocol::undecided) return state_;
    if (first_flight_.look_at_end(held_, expected_) == FirstFlight::State::refused)
        return state_ = State::refused;
    onward += std::exchange(held_, {}).substr(released_.size());
    return state_ = State::passed;
}

bool Guard::wants_client() const {
    bool is_waiting = state_ == State::waiting_for_reply && !http_;
    return state_ == State::judging || (is_waiting && held_.empty());
}

bool Guard::is_holding() const {
    return state_ == State::judging && (http_ ? http_->is_within_head() : held_.size() > released_.size());
}

std::string_view Guard::protocol() const {
    switch (first_flight_.protocol()) {
        case Protocol::tls:
        case Protocol::ssl2:
            return "tls";
        case Protocol::http1:
        case Protocol::http2:
            return "http";
        case Protocol::ssh:
            return "ssh";
        case Protocol::undecided:
        case Protocol::proxy_header:
        case Protocol::postgres:
        case Protocol::git:
        case Protocol::other:
            break;
    }
    return "tcp";
}

const Objection& Guard::objection() const {
    if (objection_) return *objection_;
    return http_ ? http_->objection() : first_flight_.objection();
}

std::string Guard::words(std::string_view text) const {
    const Objection& why = objection();
    if (http_) {
        return wire::http_refusal({.status = why.http_status,
                                   .rule = why.verdict.rule,
                                   .reason = text,
                                   .answers_head = http_->answers_head()});
    }
    return protocol() == "tls" ? wire::tls_alert(why.alert) : std::string();
}

}  // namespace network::gateway
