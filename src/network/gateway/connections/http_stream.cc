// SPDX-License-Identifier: MIT
#include "network/gateway/connections/http_stream.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"

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

void HttpStream::judge(const HttpRequest& request, const Expectation& expected) {
    if (request.form == HttpRequest::Form::authority) {
        return refuse(403, "CONNECT through a server that is not a proxy of the sandbox");
    }
    if (request.wants_websocket && requests_ > 0) {
        return refuse(400, "a websocket needs a connection of its own here");
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

}  // namespace network::gateway
