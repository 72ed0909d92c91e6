// SPDX-License-Identifier: MIT
#include "network/http2/server_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace network::http2 {

// nghttp2 calls these. A result that is not 0 resets the stream or ends the connection.
struct ServerSession::Hooks {
    static ServerSession& of(void* user) { return *static_cast<ServerSession*>(user); }

    static bool is_request(const nghttp2_frame* frame) {
        return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    }

    static int on_begin(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        ServerSession& self = of(user);
        if (is_request(frame)) self.streams_.try_emplace(frame->hd.stream_id);
        if (Stream* stream = self.find(frame->hd.stream_id)) stream->block.clear();
        return 0;
    }

    static int on_field(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                        const uint8_t* value, size_t value_size, uint8_t, void* user) {
        Stream* stream = of(user).find(frame->hd.stream_id);
        if (stream == nullptr) return 0;
        stream->block.add({reinterpret_cast<const char*>(name), name_size},
                          {reinterpret_cast<const char*>(value), value_size});
        return 0;
    }

    // Otherwise nghttp2 would leave the field out and accept the rest.
    static int on_bad_field(nghttp2_session*, const nghttp2_frame*, const uint8_t*, size_t, const uint8_t*,
                            size_t, uint8_t, void* user) {
        of(user).charge();
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }

    static int on_data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                       void* user) {
        Stream* stream = of(user).find(id);
        if (stream == nullptr || stream->is_discarded) {
            nghttp2_session_consume(session, id, size);
            if (stream != nullptr && stream->lingers) stream->lingers = 0;
        } else {
            stream->data.append(reinterpret_cast<const char*>(bytes), size);
        }
        return 0;
    }

    static int on_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        ServerSession& self = of(user);
        const bool is_block = frame->hd.type == NGHTTP2_HEADERS;
        if (!is_block && frame->hd.type != NGHTTP2_DATA) return 0;
        const int32_t id = frame->hd.stream_id;
        Stream* stream = self.find(id);
        if (stream == nullptr) return 0;
        const bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        stream->has_ended |= is_end;
        if (is_request(frame)) {
            self.take_block(id, *stream, !is_end);
        } else if (is_block) {
            self.take_trailers(id, *stream);
        }
        return 0;
    }

    static int on_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        ServerSession& self = of(user);
        const int32_t id = frame->hd.stream_id;
        if (frame->hd.type == NGHTTP2_RST_STREAM) {
            const uint32_t code = frame->rst_stream.error_code;
            // The other codes are those of reset() and of fields that were charged already.
            if (code != NGHTTP2_NO_ERROR && code != NGHTTP2_INTERNAL_ERROR) self.charge();
            return 0;
        }
        if (frame->hd.type == NGHTTP2_DATA) self.budget_.note_data();
        const bool can_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
        const bool is_end = can_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        Stream* stream = is_end ? self.find(id) : nullptr;
        // Some clients lose the answer if the stream is reset while they send (curl 7.88).
        if (stream != nullptr && !stream->has_ended) stream->lingers = 0;
        return 0;
    }

    static int on_close(nghttp2_session*, int32_t id, uint32_t code, void* user) {
        of(user).close_stream(id, code != NGHTTP2_NO_ERROR);
        return 0;
    }
};

ServerSession::ServerSession() {
    Callbacks callbacks = make_callbacks();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks.get(), Hooks::on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks.get(), Hooks::on_field);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks.get(), Hooks::on_bad_field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks.get(), Hooks::on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks.get(), Hooks::on_received);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks.get(), Hooks::on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks.get(), Hooks::on_close);
    Option option = make_option();
    nghttp2_option_set_no_auto_window_update(option.get(), 1);
    nghttp2_option_set_no_closed_streams(option.get(), 1);
    session_ = make_session(Role::server, callbacks, this, option);
    constexpr uint32_t kOverhead = 32;  // of each field, as RFC 9113 counts
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostStreams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, wire::kMaximumHead + wire::kMaximumFields * kOverhead},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings, std::size(settings));
    // The windows of the streams are the limit: one that waits for the user must not hold up the others.
    nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0,
                                          static_cast<int32_t>(kMostStreams) * kWindow);
}

ServerSession::Stream* ServerSession::find(int32_t stream) {
    auto found = streams_.find(stream);
    return found == streams_.end() ? nullptr : &found->second;
}
const ServerSession::Stream* ServerSession::find(int32_t stream) const {
    auto found = streams_.find(stream);
    return found == streams_.end() ? nullptr : &found->second;
}

void ServerSession::fail(std::string fault, uint32_t code) {
    if (std::exchange(has_failed_, true)) return;
    fault_ = std::move(fault);
    nghttp2_session_terminate_session(session_.get(), code);
}

// The client made this side reset or refuse a stream.
bool ServerSession::charge() {
    if (budget_.take_reset()) return true;
    fail(std::string(budget_.fault()), NGHTTP2_ENHANCE_YOUR_CALM);
    return false;
}

void ServerSession::receive(std::string_view bytes) {
    if (has_failed_) return;
    if (!budget_.take(bytes)) return fail(std::string(budget_.fault()), NGHTTP2_ENHANCE_YOUR_CALM);
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    const ssize_t result = nghttp2_session_mem_recv(session_.get(), data, bytes.size());
    if (result >= 0) return;
    // More answers to PING and SETTINGS wait for the client than nghttp2 keeps.
    const bool is_flood = result == NGHTTP2_ERR_FLOODED;
    fail(nghttp2_strerror(static_cast<int>(result)),
         is_flood ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
}

void ServerSession::sweep() {
    budget_.refill();
    for (auto& [id, stream] : streams_) {
        if (stream.is_closed || !stream.lingers || ++*stream.lingers <= kLingering) continue;
        stream.lingers.reset();
        nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
    }
}

void ServerSession::take_output(std::string& out, size_t most) {
    if (!take_frames(session_.get(), out, most)) fail("a frame can't be made", NGHTTP2_INTERNAL_ERROR);
}

void ServerSession::close() {
    if (!has_failed_) nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
}

bool ServerSession::is_over() const {
    return nghttp2_session_want_read(session_.get()) == 0 && nghttp2_session_want_write(session_.get()) == 0;
}

// ---- Requests

void ServerSession::take_block(int32_t id, Stream& stream, bool has_body) {
    constexpr int kTooLarge = 431, kBad = 400;
    const Fields fields = stream.block.fields();
    const bool is_too_long = stream.block.is_too_long();
    stream.block.clear();
    auto has = [&](std::string_view name, std::string_view value) {
        return std::ranges::any_of(fields, [&](const wire::HttpField& field) {
            return field.name == name && (value.empty() || field.value == value);
        });
    };
    stream.answers_head = has(":method", "HEAD");
    stream.answer_head = wire::HttpResponseHead(stream.answers_head);
    if (is_too_long)
        return refuse(id, stream, kTooLarge, "the head is longer than 16 KiB or has more than 128 fields");
    std::string_view fault = write_request_head(fields, has_body, stream.head);
    if (!fault.empty()) return refuse(id, stream, kBad, fault);
    stream.is_known = true;
    stream.is_chunked = has_body && !has("content-length", {});
    requests_.push_back(id);
}

void ServerSession::take_trailers(int32_t id, Stream& stream) {
    std::string_view fault = stream.block.is_too_long()
                                 ? "the trailers are too long"
                                 : write_trailers(stream.block.fields(), stream.trailers);
    if (fault.empty()) return;
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_PROTOCOL_ERROR);
    discard(id, stream);
}

// Of a request that is malformed. Each costs as much as a stream that the client resets.
void ServerSession::refuse(int32_t id, Stream& stream, int status, std::string_view reason) {
    if (!charge()) return;
    stream.is_dropped = true;
    discard(id, stream);
    answer(id, wire::http_refusal({.status = status, .reason = reason, .answers_head = stream.answers_head}));
}

void ServerSession::discard(int32_t id, Stream& stream) {
    stream.is_discarded = true;
    if (!stream.data.empty()) nghttp2_session_consume(session_.get(), id, stream.data.size());
    std::string().swap(stream.data);
    std::string().swap(stream.trailers);
}

int32_t ServerSession::next_request() {
    while (!requests_.empty()) {
        const int32_t id = requests_.front();
        requests_.pop_front();
        const Stream* stream = find(id);
        if (stream != nullptr && !stream->is_gone && !stream->is_discarded) return id;
        drop(id);
    }
    return 0;
}

size_t ServerSession::take_request(int32_t id, std::string& plain) {
    Stream* stream = find(id);
    if (stream == nullptr || !stream->is_known || stream->is_discarded) return 0;
    const size_t before = plain.size();
    plain += std::exchange(stream->head, {});
    if (!stream->data.empty()) {
        if (stream->is_chunked) {
            wire::append_chunk(plain, stream->data);
        } else {
            plain += stream->data;
        }
        nghttp2_session_consume(session_.get(), id, stream->data.size());
        stream->data.clear();
    }
    if (stream->has_ended && !std::exchange(stream->has_passed_end, true) && stream->is_chunked)
        wire::append_last_chunk(plain, stream->trailers);
    return plain.size() - before;
}

bool ServerSession::is_gone(int32_t id) const {
    const Stream* stream = find(id);
    return stream == nullptr || stream->is_gone;
}

void ServerSession::drop(int32_t id) {
    Stream* stream = find(id);
    if (stream == nullptr) return;
    stream->is_dropped = true;
    if (stream->is_closed) {
        streams_.erase(id);
    } else {
        discard(id, *stream);
    }
}

void ServerSession::close_stream(int32_t id, bool has_failed) {
    Stream* stream = find(id);
    if (stream == nullptr) return;
    stream->is_closed = true;
    stream->is_gone = has_failed || !stream->out.is_complete;
    // The stream is not there any more, but its bytes are in the window of the connection.
    if (!stream->data.empty()) nghttp2_session_consume_connection(session_.get(), stream->data.size());
    stream->data.clear();
    if (stream->is_dropped || !stream->is_known) streams_.erase(id);
}

// ---- Answers

size_t ServerSession::answer(int32_t id, std::string_view bytes) {
    Stream* stream = find(id);
    if (stream == nullptr || stream->is_closed) return bytes.size();
    size_t used = 0;
    while (used < bytes.size() && stream->out.data.size() < kMostWaiting) {
        if (!stream->has_head) {
            used += take_head(id, *stream, bytes.substr(used));
            continue;
        }
        std::string_view part = bytes.substr(used, kMostWaiting - stream->out.data.size());
        used += stream->body.take(part, stream->out.data);
        if (stream->body.state() == wire::HttpBody::State::open) continue;
        if (stream->out.is_complete) return bytes.size();
        if (stream->body.state() == wire::HttpBody::State::malformed) {
            reset(id);
            return bytes.size();
        }
        finish(id, *stream);
    }
    resume(session_.get(), id, stream->out);
    return used;
}

size_t ServerSession::take_head(int32_t id, Stream& stream, std::string_view bytes) {
    const size_t before = stream.received.size();
    stream.received += bytes.substr(0, wire::kMaximumHead + 1 - std::min(before, wire::kMaximumHead));
    switch (stream.answer_head.look(stream.received)) {
        case wire::HttpResponseHead::State::need_more:
            return stream.received.size() - before;
        case wire::HttpResponseHead::State::refused:
            reset(id);
            stream.has_head = true;
            return bytes.size();
        case wire::HttpResponseHead::State::complete:
            break;
    }
    const wire::HttpResponse& response = stream.answer_head.response();
    const size_t used = response.head_size - before;
    stream.received.clear();
    const Fields fields = fields_of(response);
    if (response.is_interim()) {
        submit_interim(session_.get(), id, fields);
        stream.answer_head = wire::HttpResponseHead(stream.answers_head);
        return used;
    }
    stream.has_head = true;
    stream.body = wire::HttpBody(response.framing, response.length);
    // A client of gRPC takes the fields of an answer that ends with them for its trailers.
    const bool is_complete = stream.body.state() == wire::HttpBody::State::complete;
    stream.out.is_complete = is_complete;
    if (submit(session_.get(), id, fields, is_complete ? nullptr : &stream.out) < 0) reset(id);
    return used;
}

void ServerSession::finish(int32_t id, Stream& stream) {
    stream.out.trailers = stream.body.trailers();
    stream.out.is_complete = true;
    resume(session_.get(), id, stream.out);
}

void ServerSession::end_answer(int32_t id) {
    Stream* stream = find(id);
    if (stream == nullptr || stream->is_closed || stream->out.is_complete) return;
    if (stream->has_head) stream->body.end();
    const bool is_complete = stream->has_head && stream->body.state() == wire::HttpBody::State::complete;
    is_complete ? finish(id, *stream) : reset(id);
}

void ServerSession::reset(int32_t id, bool is_untouched) {
    const uint32_t code = is_untouched ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR;
    Stream* stream = find(id);
    if (stream == nullptr || stream->is_closed) return;
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, code);
    discard(id, *stream);
}

}  // namespace network::http2
