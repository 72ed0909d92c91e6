// SPDX-License-Identifier: MIT
#include "network/http2/client_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace network::http2 {
namespace {

constexpr int kMostInterim = 32;

}  // namespace

// nghttp2 calls these.
struct ClientSession::Hooks {
    static ClientSession& of(void* user) { return *static_cast<ClientSession*>(user); }

    static int on_begin(nghttp2_session*, const nghttp2_frame*, void* user) {
        of(user).block_.clear();
        return 0;
    }

    static int on_field(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                        const uint8_t* value, size_t value_size, uint8_t, void* user) {
        ClientSession& self = of(user);
        if (frame->hd.stream_id != self.stream_) return 0;
        self.block_.add({reinterpret_cast<const char*>(name), name_size},
                        {reinterpret_cast<const char*>(value), value_size});
        return 0;
    }

    static int on_bad_field(nghttp2_session*, const nghttp2_frame*, const uint8_t*, size_t, const uint8_t*,
                            size_t, uint8_t, void*) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }

    static int on_data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* user) {
        ClientSession& self = of(user);
        if (id == self.stream_) self.take_data({reinterpret_cast<const char*>(bytes), size});
        return 0;
    }

    static int on_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        ClientSession& self = of(user);
        if (frame->hd.type == NGHTTP2_GOAWAY) self.is_closing_ = true;
        const bool is_block = frame->hd.type == NGHTTP2_HEADERS;
        if (frame->hd.stream_id != self.stream_ || (!is_block && frame->hd.type != NGHTTP2_DATA)) return 0;
        const bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        if (is_block) self.take_block(is_end);
        if (is_end) self.end_answer();
        return 0;
    }

    static int on_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type == NGHTTP2_DATA) of(user).budget_.note_data();
        return 0;
    }

    static int on_close(nghttp2_session*, int32_t id, uint32_t code, void* user) {
        ClientSession& self = of(user);
        if (id != self.stream_) return 0;
        self.stream_ = 0;
        if (!self.has_ended_)
            self.fail(base::format("the stream was reset: {}", nghttp2_http2_strerror(code)));
        return 0;
    }
};

ClientSession::ClientSession() {
    Callbacks callbacks = make_callbacks();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks.get(), Hooks::on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks.get(), Hooks::on_field);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks.get(), Hooks::on_bad_field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks.get(), Hooks::on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks.get(), Hooks::on_received);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks.get(), Hooks::on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks.get(), Hooks::on_close);
    Option option = make_option();
    nghttp2_option_set_no_closed_streams(option.get(), 1);
    session_ = make_session(Role::client, callbacks, this, option);
    // There is one stream, and a client that does not read leaves the socket unread: windows bound nothing.
    constexpr int32_t kWindow = std::numeric_limits<int32_t>::max();
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<uint32_t>(kWindow)},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, kWindow);
}

ClientSession::~ClientSession() {
    base::wipe(head_);
}

void ClientSession::fail(std::string fault) {
    if (std::exchange(has_failed_, true)) return;
    fault_ = std::move(fault);
    nghttp2_session_terminate_session(session_.get(), NGHTTP2_PROTOCOL_ERROR);
}

// ---- Requests

void ClientSession::request(std::string_view bytes) {
    while (!bytes.empty() && !has_failed_) {
        if (has_request_ && body_.state() == wire::HttpBody::State::open) {
            bytes.remove_prefix(body_.take(bytes, out_.data));
        } else {
            constexpr std::string_view kEnd = "\r\n\r\n";
            const size_t end = bytes.find(kEnd);
            if (end == std::string_view::npos) return fail("the head of a request came in pieces");
            start(bytes.substr(0, end + kEnd.size()));
            bytes.remove_prefix(end + kEnd.size());
        }
        if (has_failed_ || body_.state() == wire::HttpBody::State::open) continue;
        if (body_.state() == wire::HttpBody::State::malformed) return fail("the body is malformed");
        out_.trailers = body_.trailers();
        out_.is_complete = true;
    }
    if (stream_ != 0) resume(session_.get(), stream_, out_);
}

void ClientSession::start(std::string_view head) {
    if (stream_ != 0) return fail("a request is on its way");
    wire::HttpRequest request;
    if (wire::parse_http_head(head, request) != nullptr) return fail("the head of a request is malformed");
    has_request_ = true;
    has_ended_ = has_answer_head_ = is_chunked_ = false;
    interim_ = 0;
    answers_head_ = request.method == "HEAD";
    body_ = wire::HttpBody(request);
    base::wipe(out_.data);
    out_.trailers.clear();
    out_.is_complete = out_.is_deferred = false;
    Fields fields = fields_of(request);
    const bool has_body = body_.state() == wire::HttpBody::State::open;
    stream_ = std::max(submit(session_.get(), 0, fields, has_body ? &out_ : nullptr), 0);
    for (Fields* some : {&fields, &request.fields}) {
        for (wire::HttpField& field : *some) base::wipe(field.value);
    }
    base::wipe(request.path);
    if (stream_ == 0) fail("no further request can be made on this connection");
}

// ---- Answers

void ClientSession::receive(std::string_view bytes, std::string& answer) {
    if (has_failed_) return;
    if (!budget_.take(bytes)) return fail(std::string(budget_.fault()));
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    const ssize_t result = nghttp2_session_mem_recv(session_.get(), data, bytes.size());
    if (result < 0) fail(nghttp2_strerror(static_cast<int>(result)));
    answer += answer_;
    base::wipe(answer_);
}

void ClientSession::take_block(bool ends) {
    if (block_.is_too_long()) return fail("the head of the answer is longer than 16 KiB");
    std::string_view fault;
    if (has_answer_head_) {
        std::string lines;
        fault = write_trailers(block_.fields(), lines);
        if (fault.empty() && is_chunked_ && ends) wire::append_last_chunk(answer_, lines);
        // end_answer() writes the end of an answer without trailers.
        is_chunked_ = is_chunked_ && !ends;
    } else {
        const std::string before = std::exchange(answer_, {});
        fault =
            write_answer_head(block_.fields(), {.answers_head = answers_head_, .has_body = !ends}, answer_);
        wire::HttpResponse read;
        if (fault.empty()) fault = wire::parse_http_response(answer_, answers_head_, read);
        const bool is_interim = fault.empty() && read.is_interim();
        if (is_interim && (ends || ++interim_ > kMostInterim)) fault = "interim answers without end";
        has_answer_head_ = !is_interim;
        is_chunked_ = read.framing == wire::HttpBody::Framing::chunked;
        answer_.insert(0, before);
    }
    block_.clear();
    if (!fault.empty()) fail(std::string(fault));
}

void ClientSession::take_data(std::string_view bytes) {
    if (is_chunked_) {
        wire::append_chunk(answer_, bytes);
    } else {
        answer_ += bytes;
    }
}

void ClientSession::end_answer() {
    if (has_failed_ || std::exchange(has_ended_, true)) return;
    if (is_chunked_) wire::append_last_chunk(answer_, {});
    is_chunked_ = false;
}

void ClientSession::take_output(std::string& out) {
    if (!take_frames(session_.get(), out, std::numeric_limits<size_t>::max())) fail("a frame can't be made");
}

bool ClientSession::is_over() const {
    // An answer that came before the server had the whole request leaves the stream open.
    const bool is_between = stream_ == 0 || has_ended_;
    if (has_failed_ || (is_closing_ && is_between) || (has_ended_ && stream_ != 0)) return true;
    return nghttp2_session_want_read(session_.get()) == 0;
}

}  // namespace network::http2
