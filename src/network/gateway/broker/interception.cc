// SPDX-License-Identifier: MIT
#include "network/gateway/broker/interception.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "network/gateway/broker/streams.h"
#include "network/gateway/connections/refusal.h"
#include "network/gateway/sockets.h"
#include "network/wire/http/http_exchange.h"
#include "network/wire/refusals.h"

namespace network::gateway {
namespace {

using Stage = exchange::Exchange::Stage;

constexpr int kMostSteps = 64;

// There is one thread, and the room is empty between two calls.
char read_room[64 << 10];

exchange::Place place_of(const Target& asked, const Broker::Way& way) {
    return {.host = way.server.str(),
            .port = way.port,
            .is_encrypted = true,
            .is_intercepted = !way.is_endpoint,
            .expected_host = asked.host_text(),
            .expected_port = asked.port};
}

}  // namespace

Interception::Interception(GatewayContext& context, Opening opening, MakeRoute make_route, Done done)
    : context_(context),
      broker_(*context.broker),
      way_(std::move(opening.way)),
      asked_(std::move(opening.asked)),
      server_target_{way_.server, way_.port},
      make_route_(std::move(make_route)),
      done_(std::move(done)),
      expected_{.engine = context.engine, .host = asked_.host, .port = asked_.port},
      first_flight_(expected_),
      rules_(broker_.rules()),
      exchange_context_{place_of(asked_, way_), rules_.get(), broker_.bindings(), broker_.finder()},
      since_(Clock::now()) {
    client_.stream = std::move(opening.client);
    client_.session = opening.session;
    wake_ = std::move(opening.wake);
    client_.out = std::move(opening.to_client);
    client_.plain = std::move(opening.said);
}

Interception::~Interception() {
    context_.approvals.cancel(question_);
    hold_body(0);
    broker_.leave();
}

void Interception::start() {
    if (way_.is_endpoint || client_.session != nullptr) phase_ = Phase::serving;
    if (client_.session != nullptr) return;
    client_.stream.watch(*this, kClientSide);
    run();
}

void Interception::on_ready(uint32_t events, int which) {
    if (phase_ == Phase::finished) return;
    Side& side = which == kClientSide ? client_ : server_;
    constexpr uint32_t kEnds = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    has_left_ |= which == kClientSide && (events & kEnds) != 0;
    // As in Connection::on_ready: its question would stay in the user's list.
    if (has_left_ && question_ != 0) return abort("the client left before the user answered");
    if ((events & (EPOLLIN | kEnds)) != 0) side.is_readable = true;
    side.is_ending |= (events & kEnds) != 0;
    run();
}

// ---- Bytes

bool Interception::receive(Side& side) {
    if (side.session != nullptr) return receive_stream();
    if (!side.stream || !side.is_readable || side.has_ended || side.is_broken) return false;
    if (side.plain.size() >= kMostWaiting) return false;
    ssize_t count = ::recv(side.stream.fd(), read_room, sizeof read_room, 0);
    if (count < 0) {
        side.is_readable = errno == EINTR;
        side.is_broken = errno != EAGAIN && errno != EINTR;
        return side.is_broken;
    }
    if (count == 0) {
        side.is_readable = false;
        if (side.tls) {
            side.tls->end();
            decrypt(side);
        }
        side.has_ended = true;
        return true;
    }
    side.received += static_cast<uint64_t>(count);
    // A short read has emptied the socket: epoll reports what comes later (EPOLLET). An end may be behind it.
    if (static_cast<size_t>(count) < sizeof read_room && !side.is_ending) side.is_readable = false;
    std::string_view bytes(read_room, static_cast<size_t>(count));
    if (phase_ == Phase::leaving && &side == &client_) {
        since_ = Clock::now();
        return true;
    }
    side.tls ? side.tls->receive(bytes) : void(side.plain.append(bytes));
    return true;
}

bool Interception::decrypt(Side& side) {
    if (!side.tls || side.plain.size() >= kMostWaiting) return false;
    const bool is_framed = &side == &server_ && has_frames();
    size_t count =
        is_framed ? decrypt_frames() : side.tls->read(side.plain, kMostWaiting - side.plain.size());
    if (side.tls->state() == tls::Endpoint::State::closed) side.has_ended = true;
    bool has_failed = side.tls->state() == tls::Endpoint::State::failed && phase_ == Phase::serving;
    if (has_failed && (&side == &client_ || answer_)) side.is_broken = true;
    return count > 0;
}

// Sends what the socket takes, and returns how much that is.
size_t Interception::send(Side& side, std::string_view bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
        ssize_t count = ::send(side.stream.fd(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count < 0) {
            side.is_broken = side.is_broken || (errno != EAGAIN && errno != EINTR);
            break;
        }
        sent += static_cast<size_t>(count);
    }
    side.sent += sent;
    return sent;
}

bool Interception::flush(Side& side) {
    if (side.session != nullptr) return flush_stream();
    size_t sent = 0;
    bool is_direct = side.tls && side.stream && side.out.empty();
    if (is_direct) {
        // Without a copy, as long as the socket takes everything.
        std::string_view waiting = side.tls->output();
        if (waiting.empty()) return false;
        sent = send(side, waiting);
        side.out.append(waiting.substr(sent));
        side.tls->drop_output();
        return sent > 0 || side.is_broken;
    }
    if (side.tls) side.tls->take_output(side.out);
    if (!side.stream || side.out.empty()) return false;
    sent = send(side, side.out);
    side.out.erase(0, sent);
    if (side.out.empty() && side.out.capacity() > kMostWaiting) std::string().swap(side.out);
    return sent > 0 || side.is_broken;
}

void Interception::write(Side& side, std::string_view bytes) {
    if (side.frames) return write_frames(bytes);
    if (!side.tls) {
        side.out += bytes;
        return;
    }
    side.tls->write(bytes);
}

void Interception::run() {
    if (std::exchange(is_running_, true)) return;
    bool is_moving = true;
    for (int step = 0; step < kMostSteps && is_moving && phase_ != Phase::finished; ++step)
        is_moving = turn();
    is_running_ = false;
    if (wake_) wake_();
    if (!is_moving || phase_ == Phase::finished || std::exchange(will_run_, true)) return;
    context_.loop.later([this, alive = std::weak_ptr(token_)] {
        if (alive.expired()) return;
        will_run_ = false;
        run();
    });
}

// Reads, serves and sends in this order, so that one turn is enough for a short request.
bool Interception::turn() {
    // A side whose bytes have no room on the other side is not read.
    bool has_room = waiting(server_) < kMostWaiting, is_moving = false;
    if (phase_ == Phase::streams) has_room = client_.out.size() < kMostWaiting;
    if (has_room || phase_ == Phase::leaving) is_moving |= receive(client_);
    if (client_.out.size() < kMostWaiting) is_moving |= receive(server_);
    if (phase_ != Phase::leaving) is_moving |= decrypt(client_);
    is_moving |= decrypt(server_);
    Phase before = phase_;
    is_moving |= advance();
    if (phase_ == Phase::finished) return false;
    is_moving |= flush(client_);
    is_moving |= flush(server_);
    return is_moving || phase_ != before;
}

bool Interception::advance() {
    switch (phase_) {
        case Phase::opening:
            return look_at_first_bytes();
        case Phase::handshake:
            shake_hands();
            return false;
        case Phase::serving:
            return serve();
        case Phase::streams:
            return serve_streams();
        case Phase::leaving:
            if (client_.session != nullptr) {
                if (!client_.out.empty()) return false;
                client_.session->end_answer(client_.number);
                finish();
            } else if (client_.is_broken || client_.has_ended) {
                finish();
            } else if (client_.out.empty() && !std::exchange(has_ended_writing_, true)) {
                ::shutdown(client_.stream.fd(), SHUT_WR);
            }
            return false;
        case Phase::finished:
            break;
    }
    return false;
}

// ---- The client's side

bool Interception::look_at_first_bytes() {
    if (client_.is_broken || (client_.has_ended && client_.plain.empty())) {
        finish();
        return true;
    }
    if (client_.plain.empty()) return false;
    FirstFlight::State state = first_flight_.look(client_.plain, expected_);
    if (state == FirstFlight::State::need_more) {
        if (client_.has_ended) abort("what the client said first stayed incomplete");
        return false;
    }
    bool is_tls = state == FirstFlight::State::wait && first_flight_.protocol() == wire::Protocol::tls;
    if (is_tls) {
        if (!find_program()) return false;
        base::Result<std::shared_ptr<tls::ServerContext>> context = broker_.toward_clients();
        if (context) certificates_ = *context;
        base::Result<tls::Endpoint> made =
            context ? tls::Endpoint::server(**context) : base::Result<tls::Endpoint>(context.error());
        if (!made) {
            abort(made.error().line());
            return true;
        }
        client_.tls.emplace(*std::move(made));
        client_.tls->receive(std::exchange(client_.plain, {}));
        phase_ = Phase::handshake;
        since_ = Clock::now();
        return true;
    }
    if (state == FirstFlight::State::http) {
        exchange_context_.place.is_encrypted = exchange_context_.place.is_intercepted = false;
        phase_ = Phase::serving;
        since_ = Clock::now();
        return true;
    }
    bool is_refused = state == FirstFlight::State::refused;
    std::string reason = is_refused ? first_flight_.objection().reason
                                    : base::format(
                                          "only HTTP and TLS are read at port {} of {}, because a "
                                          "credential or a request rule names it",
                                          asked_.port, asked_.host_text());
    bool is_hello = first_flight_.protocol() == wire::Protocol::tls;
    fault_ = std::move(reason);
    is_refused_ = true;
    leave(is_hello ? wire::tls_alert(first_flight_.objection().alert) : std::string());
    return true;
}

// False: the handshake waits for the answer.
bool Interception::find_program() {
    if (identified_ == Identified::no) {
        identified_ = Identified::asked;
        std::optional<Endpoint> client = peer_endpoint(client_.stream.fd());
        broker_.clients().find(client ? client->port : 0, token_, [this](const std::string& program) {
            program_ = program;
            identified_ = Identified::yes;
            run();
        });
    }
    return identified_ == Identified::yes;
}

std::string Interception::program() const {
    return program_.empty() ? "the program" : program_;
}

void Interception::report_distrust(const std::string& fault) {
    fault_ = base::format(
        "{}; let it use SSL_CERT_FILE, or set requests.opaque = [\"{}\"], which gives up the credentials and "
        "rules for this host",
        fault, asked_.host_text());
    is_refused_ = true;
    const std::string name = program_.substr(0, program_.find(" (process "));
    broker_.tell_once(base::format("handshake {} {}", asked_.host_text(), name),
                      base::format("{}: {}", asked_.host_text(), fault_));
}

// Some clients verify a certificate after the handshake: they close the connection without an end of TLS, or
// send their alert then.
void Interception::note_end() {
    bool is_possible = client_.tls && !std::exchange(has_requested_, true) && client_.plain.empty();
    if (!is_possible) return;
    bool is_alert = client_.tls->failure() == tls::Endpoint::Failure::client_distrusts;
    bool is_torn = client_.is_broken || client_.tls->is_truncated();
    if (is_alert) return report_distrust(base::format("{}: {}", program(), client_.tls->fault()));
    if (!is_torn || broker_.clients().has_trusted(asked_.host_text(), program_)) return;
    report_distrust(
        base::format("{} closed the connection after the TLS handshake, without a request; perhaps it does "
                     "not trust the session's root certificate",
                     program()));
}

void Interception::shake_hands() {
    if (client_.is_broken) client_.tls->end();
    switch (client_.tls->state()) {
        case tls::Endpoint::State::handshake:
            return;
        case tls::Endpoint::State::open:
        case tls::Endpoint::State::closed:
            phase_ = Phase::serving;
            since_ = Clock::now();
            if (client_.tls->speaks_http2()) begin_streams();
            return;
        case tls::Endpoint::State::failed:
            break;
    }
    using Failure = tls::Endpoint::Failure;
    const Failure failure = client_.tls->failure();
    fault_ = base::format("the TLS handshake with {} failed: {}", program(), client_.tls->fault());
    is_refused_ = true;
    if (failure == Failure::client_distrusts || failure == Failure::client_closed) report_distrust(fault_);
    if (failure == Failure::no_protocol) {
        fault_ += "; only these are read here, so let the program use one of them";
        broker_.tell_once(base::format("handshake {}", asked_.host_text()),
                          base::format("{}: {}", asked_.host_text(), fault_));
    }
    if (client_.is_broken) return finish();
    flush(client_);
    leave({});
}

// ---- The end

// Sends the last bytes and reads on until the client closes: a socket that is closed with unread bytes resets
// the connection, and the client would lose the answer.
void Interception::leave(std::string_view last_words) {
    if (phase_ == Phase::leaving || phase_ == Phase::finished) return;
    drop_streams();
    if (!last_words.empty()) write(client_, last_words);
    if (client_.tls) {
        client_.tls->close();
        client_.tls->take_output(client_.out);
    }
    answer_.reset();
    refresh_.reset();
    route_.reset();
    context_.approvals.cancel(question_);
    hold_body(0);
    server_.stream.close();
    client_.plain.clear();
    phase_ = Phase::leaving;
    since_ = Clock::now();
    if (!is_running_) run();
}

void Interception::abort(std::string fault, bool may_retry) {
    fault_ = std::move(fault);
    drop_streams();
    if (exchange_ && answer_) record(answer_->status(), "aborted", fault_);
    if (client_.session != nullptr) client_.session->reset(client_.number, may_retry);
    client_.stream.reset();
    server_.stream.reset();
    finish();
}

bool Interception::judge_again() {
    if (streams_) streams_->judge_again();
    if (phase_ != Phase::serving || !exchange_) return false;
    switch (exchange_->stage()) {
        case Stage::ask:
        case Stage::body:
        case Stage::ready: {
            // The verdict so far refers to the old rules.
            std::shared_ptr<const requests::RequestRules> before = std::exchange(rules_, broker_.rules());
            exchange_context_.rules = rules_.get();
            exchange_->judge_again();
            if (exchange_->stage() != Stage::ask) context_.approvals.cancel(question_);
            has_values_ = false;
            exchange_->stage() == Stage::refused ? refuse_exchange() : run();
            return false;
        }
        case Stage::upgrading:
        case Stage::tunnel:
            if (exchange_->is_permitted_by(*broker_.rules())) return false;
            cut("new rules about requests do not permit this WebSocket");
            return true;
        case Stage::head:
        case Stage::forwarding:
        case Stage::complete:
        case Stage::refused:
            return false;
    }
    return false;
}

bool Interception::hold_body(size_t bytes) {
    const bool has_room = broker_.hold(held_, bytes);
    held_ = has_room ? bytes : 0;
    return has_room;
}

void Interception::cut(std::string reason) {
    if (phase_ == Phase::finished) return;
    fault_ = std::move(reason);
    is_refused_ = true;
    if (client_.session != nullptr) client_.session->reset(client_.number);
    client_.stream.reset();
    server_.stream.reset();
    finish();
}

void Interception::finish() {
    if (phase_ == Phase::finished) return;
    phase_ = Phase::finished;
    drop_streams();
    route_.reset();
    refresh_.reset();
    context_.approvals.cancel(question_);
    client_.stream.close();
    server_.stream.close();
    context_.loop.later([this, alive = std::weak_ptr(token_)] {
        if (alive.expired()) return;
        Done done = std::move(done_);
        done();
    });
}

void Interception::sweep(Clock::time_point now) {
    if (server_.frames) server_.frames->refill();
    auto waited = now - since_;
    switch (phase_) {
        case Phase::opening:
            if (identified_ == Identified::asked && waited >= kIdentification) {
                identified_ = Identified::yes;
                return run();
            }
            [[fallthrough]];
        case Phase::handshake:
            if (waited >= kHandshake) abort("the client did not finish its TLS handshake");
            return;
        case Phase::serving: {
            bool is_in_head =
                !exchange_ || exchange_->stage() == Stage::head || exchange_->stage() == Stage::body;
            if (is_in_head && waited >= kIdle) return leave({});
            bool is_shaking = server_.tls && server_.tls->state() == tls::Endpoint::State::handshake;
            if (is_shaking && waited >= kHandshake)
                answer_failure(504, {},
                               base::format("{} did not finish its TLS handshake", way_.server.str()));
            return;
        }
        case Phase::streams:
            if (streams_ && streams_->sweep(now)) since_ = now;
            // A stream may have ended the connection.
            if (!streams_ || now - since_ < kIdle) return;
            streams_->close();
            return run();
        case Phase::leaving:
            if (waited >= kLeaving) finish();
            return;
        case Phase::finished:
            return;
    }
}

}  // namespace network::gateway
