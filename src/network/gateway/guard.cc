// SPDX-License-Identifier: MIT
#include "network/gateway/guard.h"

#include <algorithm>

#include "network/wire/http_refusal.h"

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
    switch (first_flight_.look(held_, expected_)) {
        case FirstFlight::State::need_more:
            if (first_flight_.protocol() == Protocol::undecided) release_beginning(onward);
            return state_;
        case FirstFlight::State::refused:
            return state_ = State::refused;
        case FirstFlight::State::pass:
            onward += std::exchange(held_, {}).substr(released_.size());
            return state_ = State::passed;
        case FirstFlight::State::http:
            break;
    }
    http_ = std::make_unique<HttpStream>(requests_);
    return pass_on_http(std::exchange(held_, {}), onward);
}

// The head as it goes on must begin with what is there already.
Guard::State Guard::pass_on_http(std::string_view bytes, std::string& onward) {
    if (released_.empty()) return adopt(http_->take(bytes, expected_, onward));
    std::string head;
    adopt(http_->take(bytes, expected_, head));
    if (head.empty()) return state_;
    if (!head.starts_with(released_)) {
        objection_ = Objection{.reason = "the request is malformed", .http_status = 400};
        return state_ = State::refused;
    }
    onward.append(head, released_.size());
    released_.clear();
    return state_;
}

// Only text, nothing behind a line's end, and no target with a scheme: that one is written anew.
void Guard::release_beginning(std::string& onward) {
    constexpr std::string_view kScheme = "http:";
    bool is_text = held_.front() > ' ' && held_.find_first_of("\r\n") == std::string::npos;
    if (!is_text) return;
    size_t word = held_.find(' ');
    std::string_view target = word == std::string::npos ? "" : std::string_view(held_).substr(word + 1);
    size_t compared = std::min(target.size(), kScheme.size());
    bool may_have_scheme =
        compared > 0 && wire::equals_ignoring_case(target.substr(0, compared), kScheme.substr(0, compared));
    if (may_have_scheme) return;
    onward.append(held_, released_.size());
    released_ = held_;
}

Guard::State Guard::take_reply(std::string_view bytes, std::string& onward) {
    return http_ ? adopt(http_->take_reply(bytes, expected_, onward)) : state_;
}

Guard::State Guard::take_end(std::string& onward) {
    if (first_flight_.protocol() != Protocol::undecided) return state_;
    onward += std::exchange(held_, {}).substr(released_.size());
    return state_ = State::passed;
}

bool Guard::is_holding() const {
    return state_ == State::judging && (http_ ? http_->is_within_head() : held_.size() > released_.size());
}

std::string_view Guard::protocol() const {
    switch (first_flight_.protocol()) {
        case Protocol::tls:
            return "tls";
        case Protocol::http1:
        case Protocol::http2:
            return "http";
        case Protocol::ssh:
            return "ssh";
        case Protocol::undecided:
        case Protocol::socks5:
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
    return first_flight_.protocol() == Protocol::tls ? wire::tls_alert(why.alert) : std::string();
}

}  // namespace network::gateway
