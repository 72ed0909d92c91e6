// SPDX-License-Identifier: MIT
// The way back: reads the server's answer, writes its head anew and removes the values of credentials from
// head, body and trailers. Pure: bytes in, bytes out.
//
// Threats: a server that repeats a secret (an error page, Location, Set-Cookie, trailers), and an answer that
// the client reads as two. Chunks are written anew, because a value may lie across two chunks. Tests:
// tests/exchange/answer_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/exchange/redactor.h"
#include "network/exchange/tokens.h"
#include "network/wire/http/http_head.h"
#include "network/wire/http/http_response.h"

namespace network::exchange {

class Answer {
  public:
    enum class Stage { head, body, tunnel, complete, failed };

    // `forms` may be null, if no value was sent on this connection.
    Answer(const wire::HttpRequest& request, const RedactionForms* forms);

    // The answer of a token endpoint: its body is read whole, and the client gets placeholders for the tokens
    // of the bindings with these numbers. `bindings` must outlive it.
    void expect_tokens(std::span<const Binding> bindings, std::vector<size_t> issued);
    // After complete. Empty unless the status is 2xx.
    NewTokens take_tokens() { return std::move(new_tokens_); }

    // Takes bytes of the server and appends what the client gets. Returns how many were used; the rest
    // belongs to the next answer.
    size_t take(std::string_view bytes, std::string& out);
    // There are further values: the rest of the answer is searched for them, too.
    void search_for(const RedactionForms* forms);
    // The server closed the connection.
    void end(std::string& out);

    ~Answer() { base::wipe(whole_); }
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;

    Stage stage() const { return stage_; }
    int status() const { return head_.response().status; }
    // The client got a part of the answer already: after a failure only the end of the connection is left.
    bool has_started() const { return has_started_; }
    // The server has sent nothing since the request.
    bool is_untouched() const { return !has_started_ && interim_ == 0 && received_.empty(); }
    // Whether another request may follow on both connections.
    bool keeps_alive() const { return keeps_alive_; }
    // The body has a coding although none was asked for: it was searched as it came, not decoded.
    bool is_uninspected() const { return is_uninspected_; }
    bool has_redacted() const { return has_redacted_ || redactor_.has_found(); }
    std::string_view fault() const { return fault_; }  // after failed
    uint64_t body_bytes() const { return body_bytes_; }

  private:
    size_t take_head(std::string_view bytes, std::string& out);
    size_t take_body(std::string_view bytes, std::string& out);
    void start_body();
    void finish(std::string& out);
    void finish_tokens(std::string& out);
    void fail(std::string_view fault);
    void write_head(std::string& out);
    void emit(std::string_view data, std::string& out);
    std::string clean(std::string_view text);

    bool answers_head_;
    bool is_new_client_;  // HTTP/1.1
    bool wants_upgrade_;
    bool client_keeps_alive_;
    const RedactionForms* forms_;
    Redactor redactor_;
    Stage stage_ = Stage::head;
    std::string received_;
    wire::HttpResponseHead head_;
    wire::HttpBody body_{wire::HttpBody::Framing::none, 0};
    int interim_ = 0;
    bool writes_chunks_ = false;
    bool has_started_ = false;
    bool keeps_alive_ = false;
    bool is_uninspected_ = false;
    bool has_redacted_ = false;
    uint64_t body_bytes_ = 0;
    std::string_view fault_;
    std::span<const Binding> bindings_;
    std::vector<size_t> issued_;
    std::string whole_;  // of an answer with tokens
    std::optional<size_t> own_length_;
    NewTokens new_tokens_;
};

}  // namespace network::exchange
