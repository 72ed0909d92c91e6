// SPDX-License-Identifier: MIT
#include "network/gateway/connections/client_filter.h"

#include <algorithm>

#include "base/parse.h"
#include "network/wire/http/http_refusal.h"

namespace network::gateway {

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
