// SPDX-License-Identifier: MIT
// HTTP/2 on both sides of an Interception: a connection whose streams are served by others, a stream in place
// of the client's socket, and frames between the server's TLS and the readers of HTTP/1.1.
#include <utility>

#include "network/gateway/broker/interception.h"
#include "network/gateway/broker/streams.h"

namespace network::gateway {

// ---- A connection with streams

void Interception::begin_streams() {
    phase_ = Phase::streams;
    auto wake = [this, alive = std::weak_ptr(token_)] {
        if (!alive.expired()) run();
    };
    auto make = [this, wake](http2::ServerSession& session) -> std::unique_ptr<Interception> {
        if (!broker_.enter()) return nullptr;
        Opening opening{.client = {},
                        .asked = asked_,
                        .way = way_,
                        .to_client = {},
                        .said = {},
                        .session = &session,
                        .wake = wake};
        auto made = std::make_unique<Interception>(context_, std::move(opening), make_route_, wake);
        made->start();
        return made;
    };
    streams_ = std::make_unique<Streams>(context_.loop, make);
}

bool Interception::serve_streams() {
    const bool has_bytes = !client_.plain.empty();
    if (has_bytes && !std::exchange(has_requested_, true))
        broker_.clients().note_trust(asked_.host_text(), program_);
    if (has_bytes) streams_->receive(std::exchange(client_.plain, {}));
    if (client_.is_broken || (client_.has_ended && !has_bytes)) {
        note_end();
        if (client_.is_broken) {
            abort("the client closed the connection");
        } else {
            leave({});
        }
        return true;
    }
    streams_->run();
    if (!address_) address_ = streams_->address();
    std::string out;
    if (client_.out.size() < kMostWaiting) streams_->take_output(out, kMostWaiting);
    if (!out.empty()) write(client_, out);
    if (streams_->is_over()) {
        is_refused_ = !streams_->fault().empty();
        if (is_refused_) fault_ = "the client's HTTP/2 is refused: " + streams_->fault();
        leave({});
    }
    return has_bytes || !out.empty();
}

// They may be on the stack, so they stay until the end of the turn.
void Interception::drop_streams() {
    if (!streams_) return;
    streams_->end();
    const Streams::Counts counts = streams_->counts();
    server_.sent += counts.sent;
    server_.received += counts.received;
    unrecorded_ += counts.unrecorded;
    context_.loop.bury(std::move(streams_));
}

uint64_t Interception::sent() const {
    return server_.sent + (streams_ ? streams_->counts().sent : 0);
}
uint64_t Interception::received() const {
    return server_.received + (streams_ ? streams_->counts().received : 0);
}
uint64_t Interception::unrecorded() const {
    return unrecorded_ + (streams_ ? streams_->counts().unrecorded : 0);
}

// ---- A stream in place of the client's socket

void Interception::take_stream(int32_t stream) {
    client_.number = stream;
    since_ = Clock::now();
}

void Interception::lose_stream() {
    if (phase_ == Phase::finished) return;
    abort("the client does not wait for the answer any more");
}

bool Interception::is_idle() const {
    return phase_ == Phase::serving && !exchange_ && client_.plain.empty() && client_.out.empty();
}

bool Interception::receive_stream() {
    if (client_.number == 0 || phase_ != Phase::serving || client_.plain.size() >= kMostWaiting) return false;
    const size_t count = client_.session->take_request(client_.number, client_.plain);
    client_.received += count;
    return count > 0;
}

bool Interception::flush_stream() {
    if (client_.out.empty()) return false;
    const size_t sent = client_.session->answer(client_.number, client_.out);
    client_.out.erase(0, sent);
    client_.sent += sent;
    return sent > 0;
}

// ---- Frames of the server

size_t Interception::waiting(const Side& side) {
    return side.out.size() + (side.frames ? side.frames->waiting() : 0);
}

// Between TLS and `plain`, if both sides agreed on HTTP/2.
bool Interception::has_frames() {
    const bool is_open = server_.tls->state() == tls::Endpoint::State::open;
    if (!server_.frames && is_open && server_.tls->speaks_http2())
        server_.frames = std::make_unique<http2::ClientSession>();
    return server_.frames != nullptr;
}

size_t Interception::decrypt_frames() {
    std::string bytes;
    const size_t count = server_.tls->read(bytes, kMostWaiting - server_.plain.size());
    server_.frames->receive(bytes, server_.plain);
    write_frames({});
    server_.has_ended |= server_.frames->is_over();
    return count;
}

void Interception::write_frames(std::string_view request) {
    server_.frames->request(request);
    std::string out;
    server_.frames->take_output(out);
    if (!out.empty()) server_.tls->write(out);
    base::wipe(out);
}

}  // namespace network::gateway
