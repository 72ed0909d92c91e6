// SPDX-License-Identifier: MIT
// The requests of one HTTP/1 connection. Each is judged before a byte of it is forwarded. Pure.
//
// A server reads requests one after the other, so the end of a request matters as much as its host. Bodies
// are counted, and anything that the strict reader does not understand ends the connection. Requests in
// origin form are forwarded unchanged. Absolute form, and upgrades other than to a websocket, are rewritten.
// After a websocket's request nothing is forwarded before the server has accepted it, and everything
// afterwards. A websocket needs a connection of its own: only then is the first reply certainly its answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "network/gateway/connections/expected_peer.h"
#include "network/wire/http/http_body.h"
#include "network/wire/http/http_head.h"
#include "network/wire/http/http_response.h"

namespace network::gateway {

class HttpStream {
  public:
    enum class State { open, waiting_for_reply, raw, refused };
    enum class Requests { many, one };  // one: it is the last, and its header tells the server so

    explicit HttpStream(Requests requests) : takes_many_(requests == Requests::many) {}

    // Appends to `onward` the bytes that may be forwarded.
    State take(std::string_view bytes, const Expectation& expected, std::string& onward);
    // The server's bytes, while waiting for a reply. The client receives them in any case.
    State take_reply(std::string_view bytes, const Expectation& expected, std::string& onward);

    State state() const { return state_; }
    bool is_within_head() const { return !head_.empty(); }
    bool answers_head() const { return answers_head_; }  // the refused request was a HEAD request
    unsigned requests() const { return requests_; }      // forwarded so far
    const Objection& objection() const { return objection_; }

  private:
    // Returns the rest of the bytes.
    std::string_view take_body(std::string_view bytes, std::string& onward);
    std::string_view take_head(std::string_view bytes, const Expectation& expected, std::string& onward);
    void judge(const wire::HttpRequest& request, const Expectation& expected);
    void send_on(const wire::HttpRequest& request, std::string& onward);
    void refuse(Objection objection);
    void refuse(int status, std::string_view reason);

    State state_ = State::open;
    bool takes_many_;
    bool is_last_ = false;
    bool answers_head_ = false;
    unsigned requests_ = 0;
    std::string head_;
    wire::HttpHeadReader reader_;
    std::optional<wire::HttpBody> body_;
    std::string held_;  // bytes after a websocket's request
    std::string reply_;
    wire::HttpResponseReader reply_reader_;
    Objection objection_;
};

}  // namespace network::gateway
