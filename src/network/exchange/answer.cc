// SPDX-License-Identifier: MIT
#include "network/exchange/answer.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/exchange/exchange.h"

namespace network::exchange {
namespace {

constexpr int kMaximumInterim = 32;
constexpr size_t kLargestRead = 16384;  // of the body of an answer with tokens

// Fields that end at this hop, that the gateway writes itself, or that lead a client around it: Alt-Svc names
// another address of the host.
constexpr std::string_view kDropped[] = {
    "Connection",     "Keep-Alive", "Proxy-Connection", "Transfer-Encoding",
    "Content-Length", "Alt-Svc",    "Upgrade",
};

bool is_dropped(std::string_view name) {
    return std::ranges::any_of(kDropped,
                               [&](std::string_view own) { return base::equals_ignoring_case(own, name); });
}

bool is_compressed(const wire::HttpResponse& response) {
    return std::ranges::any_of(response.fields, [](const wire::HttpField& field) {
        bool is_coding = base::equals_ignoring_case(field.name, "Content-Encoding") ||
                         base::equals_ignoring_case(field.name, "Grpc-Encoding");
        return is_coding && !field.value.empty() && !base::equals_ignoring_case(field.value, "identity");
    });
}

// A stream of gRPC's messages, in both directions at once.
bool is_of_messages(const wire::HttpResponse& response) {
    return std::ranges::any_of(response.fields, [](const wire::HttpField& field) {
        return base::equals_ignoring_case(field.name, "Content-Type") &&
               base::starts_ignoring_case(field.value, "application/grpc");
    });
}

}  // namespace

Answer::Answer(const wire::HttpRequest& request, const RedactionForms* forms)
    : answers_head_(request.method == "HEAD"),
      is_new_client_(request.minor_version == 1),
      wants_upgrade_(request.wants_websocket),
      client_keeps_alive_(request.keeps_alive && request.minor_version == 1 && !may_lose_its_body(request)),
      forms_(forms),
      redactor_(forms),
      head_(answers_head_) {}

void Answer::search_for(const RedactionForms* forms) {
    forms_ = forms;
    redactor_.search_for(forms);
}

void Answer::expect_tokens(std::span<const Binding> bindings, std::vector<size_t> issued) {
    bindings_ = bindings;
    issued_ = std::move(issued);
}

void Answer::fail(std::string_view fault) {
    fault_ = fault;
    stage_ = Stage::failed;
    keeps_alive_ = false;
}

std::string Answer::clean(std::string_view text) {
    if (redactor_.is_too_short(text.size())) return std::string(text);
    std::string cleaned = redactor_.redacted(text);
    has_redacted_ |= cleaned != text;
    return cleaned;
}

size_t Answer::take(std::string_view bytes, std::string& out) {
    size_t used = 0;
    // Interim answers may come in one read with the final one.
    while (used < bytes.size()) {
        size_t taken = 0;
        switch (stage_) {
            case Stage::head:
                taken = take_head(bytes.substr(used), out);
                break;
            case Stage::body:
                taken = take_body(bytes.substr(used), out);
                break;
            case Stage::tunnel:
                // A server's frames are not masked, so a value is found in them too.
                redactor_.take(bytes.substr(used), out);
                return bytes.size();
            case Stage::complete:
            case Stage::failed:
                return used;
        }
        used += taken;
    }
    return used;
}

size_t Answer::take_head(std::string_view bytes, std::string& out) {
    size_t before = received_.size();
    received_ += bytes.substr(0, wire::kMaximumHead + 1 - std::min(before, wire::kMaximumHead));
    switch (head_.look(received_)) {
        case wire::HttpResponseHead::State::need_more:
            return received_.size() - before;
        case wire::HttpResponseHead::State::refused:
            fail(head_.fault());
            return received_.size() - before;
        case wire::HttpResponseHead::State::complete:
            break;
    }
    size_t used = head_.response().head_size - before;
    base::wipe(received_);
    if (head_.response().is_interim()) {
        if (++interim_ > kMaximumInterim) {
            fail("the server sends interim answers without end");
            return used;
        }
        if (is_new_client_) write_head(out);
        head_ = wire::HttpResponseHead(answers_head_);
        return used;
    }
    if (head_.response().is_upgrade() && !wants_upgrade_) {
        fail("the server changes the protocol although it was not asked to");
        return used;
    }
    start_body();
    if (issued_.empty()) {
        write_head(out);
    } else if (is_compressed(head_.response())) {
        fail("the answer of a token endpoint is compressed although that was not asked for");
    } else {
        whole_.reserve(kMaximumTokenAnswer + kLargestRead);
    }
    if (stage_ == Stage::body && body_.state() == wire::HttpBody::State::complete) finish(out);
    return used;
}

void Answer::start_body() {
    const wire::HttpResponse& response = head_.response();
    body_ = wire::HttpBody(response.framing, response.length);
    keeps_alive_ = response.keeps_alive && client_keeps_alive_;
    stage_ = response.is_upgrade() ? Stage::tunnel : Stage::body;
    // The end of a message would wait for the next one, and the server for the client's answer.
    if (stage_ == Stage::tunnel || is_of_messages(response)) redactor_.pass_beginnings();
    bool is_chunked = response.framing == wire::HttpBody::Framing::chunked;
    writes_chunks_ = is_chunked && is_new_client_;
    if (is_chunked && !is_new_client_) keeps_alive_ = false;
    bool has_forms = forms_ != nullptr && !forms_->is_empty();
    is_uninspected_ = has_forms && is_compressed(response);
}

void Answer::write_head(std::string& out) {
    const wire::HttpResponse& response = head_.response();
    has_started_ = true;
    out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
    out.append(clean(response.reason)).append("\r\n");
    auto append = [&](std::string_view name, std::string_view value) {
        out.append(name).append(": ").append(value).append("\r\n");
    };
    for (const wire::HttpField& field : response.fields) {
        bool is_length = base::equals_ignoring_case(field.name, "Content-Length");
        // Of an answer without a body the length describes the body that GET would have.
        bool keeps_length = is_length && (answers_head_ || response.status == 304);
        bool keeps_upgrade = response.is_upgrade() && base::equals_ignoring_case(field.name, "Upgrade");
        if (is_dropped(field.name) && !keeps_length && !keeps_upgrade) continue;
        append(clean(field.name), clean(field.value));
    }
    if (response.is_upgrade()) {
        append("Connection", "Upgrade");
    } else if (!response.is_interim()) {
        if (own_length_ || response.framing == wire::HttpBody::Framing::sized)
            append("Content-Length", std::to_string(own_length_.value_or(response.length)));
        if (writes_chunks_) append("Transfer-Encoding", "chunked");
        if (!keeps_alive_) append("Connection", "close");
    }
    out += "\r\n";
}

void Answer::emit(std::string_view data, std::string& out) {
    if (writes_chunks_) {
        wire::append_chunk(out, data);
    } else {
        out += data;
    }
}

size_t Answer::take_body(std::string_view bytes, std::string& out) {
    size_t used = 0;
    // Also with a coding: the server may name one that it did not apply.
    if (!issued_.empty()) {
        used = body_.take(bytes.substr(0, kLargestRead), whole_);
        body_bytes_ = whole_.size();
        if (whole_.size() > kMaximumTokenAnswer) {
            fail("the answer of a token endpoint is longer than 256 KiB");
            return used;
        }
    } else if (head_.response().framing == wire::HttpBody::Framing::chunked) {
        std::string data, cleaned;
        used = body_.take(bytes, data);
        body_bytes_ += data.size();
        redactor_.take(data, cleaned);
        emit(cleaned, out);
    } else {
        // Without chunks all bytes are data, and need no copy before the search.
        used = body_.take(bytes);
        body_bytes_ += used;
        redactor_.take(bytes.substr(0, used), out);
    }
    if (body_.state() == wire::HttpBody::State::malformed) {
        fail("the body of the answer is malformed");
    } else if (body_.state() == wire::HttpBody::State::complete) {
        finish(out);
    }
    return used;
}

// Threat: a token in a field of the head, or in another spelling beside the field that holds it. What is left
// after the placeholders were put in is searched for the new values, too (tests/exchange/tokens_test.cc).
void Answer::finish_tokens(std::string& out) {
    const wire::HttpResponse& response = head_.response();
    auto type = std::ranges::find_if(response.fields, [](const wire::HttpField& field) {
        return base::equals_ignoring_case(field.name, "Content-Type");
    });
    const BodyForm form = type == response.fields.end() ? BodyForm::unknown : form_of(type->value);
    const bool is_success = response.status / 100 == 2;
    TokenAnswer answer = read_token_answer(whole_, form, bindings_, issued_);
    if (!answer.fault.empty() && is_success) return fail(answer.fault);
    base::wipe(whole_);
    RedactionForms forms;
    for (const NewToken& token : answer.issued.tokens) forms.add(token.value);
    Redactor newer(&forms);
    std::string body = newer.redacted(clean(answer.body)), head;
    own_length_ = body.size();
    writes_chunks_ = false;
    write_head(head);
    out += newer.redacted(head);
    out += body;
    if (is_success) new_tokens_ = std::move(answer.issued);
    stage_ = Stage::complete;
}

void Answer::finish(std::string& out) {
    if (!issued_.empty()) return finish_tokens(out);
    std::string rest;
    redactor_.finish(rest);
    emit(rest, out);
    if (writes_chunks_) wire::append_last_chunk(out, clean(body_.trailers()));
    stage_ = Stage::complete;
}

void Answer::end(std::string& out) {
    if (stage_ == Stage::head) return fail("the server closed the connection before its answer was complete");
    if (stage_ == Stage::tunnel) {
        redactor_.finish(out);
        stage_ = Stage::complete;
        return;
    }
    if (stage_ != Stage::body) return;
    keeps_alive_ = false;
    body_.end();
    if (body_.state() == wire::HttpBody::State::malformed)
        return fail("the server closed the connection within its answer");
    finish(out);
}

}  // namespace network::exchange
