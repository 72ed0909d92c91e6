// SPDX-License-Identifier: MIT
// Requests of an intercepted connection and their answers: from the judged head to the server, the values and
// the way back. interception.cc moves the bytes.
#include <sys/socket.h>

#include <utility>

#include "base/text.h"
#include "network/gateway/broker/interception.h"
#include "network/gateway/connections/refusal.h"
#include "network/wire/http/http_exchange.h"

namespace network::gateway {
namespace {

using exchange::Code;
using AnswerStage = exchange::Answer::Stage;
using RequestStage = exchange::Exchange::Stage;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

int status_of(RouteFailure::Kind kind) {
    if (kind == RouteFailure::Kind::refused) return 403;
    return kind == RouteFailure::Kind::timed_out ? 504 : 502;
}

}  // namespace

bool Interception::serve() {
    if (client_.is_broken || client_.has_ended) note_end();
    if (client_.is_broken) {
        abort("the client closed the connection");
        return true;
    }
    bool is_moving = take_request();
    if (phase_ == Phase::serving) is_moving |= take_answer();
    if (phase_ == Phase::serving && client_.has_ended && client_.plain.empty()) lose_client();
    return is_moving;
}

bool Interception::take_request() {
    if (!exchange_) {
        if (client_.plain.empty()) return false;
        if (client_.tls && !std::exchange(has_requested_, true))
            broker_.clients().note_trust(asked_.host_text(), program_);
        rules_ = broker_.rules();
        exchange_context_.rules = rules_.get();
        exchange_.emplace(exchange_context_);
        request_since_ = since_ = Clock::now();
        sent_before_ = server_.sent;
        received_before_ = server_.received;
        has_values_ = has_continued_ = has_reopened_ = false;
        used_.clear();
    }
    RequestStage before = exchange_->stage();
    size_t used = 0;
    bool is_flowing = before == RequestStage::forwarding || before == RequestStage::tunnel;
    bool has_room = !is_flowing || waiting(server_) < kMostWaiting;
    if (!client_.plain.empty() && has_room) {
        std::string onward;
        used = exchange_->take(client_.plain, onward);
        client_.plain.erase(0, used);
        if (!onward.empty()) write(server_, onward);
        if (!hold_body(exchange_->held()))
            exchange_->refuse(Code::body_too_large,
                              base::format("bodies that rules must read whole fill {} MiB in this session; "
                                           "try again",
                                           Broker::kMostHeld >> 20));
    }
    advance_request();
    return used > 0 || (exchange_ && exchange_->stage() != before);
}

void Interception::advance_request() {
    switch (exchange_->stage()) {
        case RequestStage::ask:
            return ask_user();
        case RequestStage::body:
            if (exchange_->wants_continue() && !std::exchange(has_continued_, true))
                write(client_, kContinue);
            return;
        case RequestStage::ready:
            return prepare();
        case RequestStage::refused:
            return refuse_exchange();
        case RequestStage::head:
        case RequestStage::forwarding:
        case RequestStage::upgrading:
        case RequestStage::tunnel:
        case RequestStage::complete:
            return;
    }
}

// The request waits for the user's answer. Its body stays where it is.
void Interception::ask_user() {
    if (question_ != 0) return;
    exchange::Exchange::Question asked = exchange_->asked();
    auto deny = [this](std::string reason, std::string change) {
        exchange_->deny(std::move(reason), std::move(change));
        refuse_exchange();
    };
    // Threat: a text that is cut in the user's list, and harmless as far as it is shown
    // (tests/gateway/approvals_test.cc).
    if (asked.path.size() + asked.detail.size() > kLongestQuestion)
        return deny("the request is too long for a question to the user", {});
    AskedAbout what{
        .name = way_.server,
        .port = way_.port,
        .request = AskedRequest{.key = std::move(asked.key),
                                .method = std::move(asked.method),
                                .path = std::move(asked.path),
                                .detail = std::move(asked.detail),
                                .credential = names_of(exchange_->credentials()),
                                .recorded_path = broker_.records_paths() ? exchange_->recorded_path() : ""}};
    if (context_.approvals.is_approved(what)) return exchange_->approve();
    if (has_left_) return deny("the client closed its side before the user could be asked", {});
    if (std::optional<Verdict> obstacle = context_.approvals.obstacle_to(what))
        return deny(std::move(obstacle->reason), std::move(obstacle->advice));
    question_ = context_.approvals.hold(
        what, [this, deny, alive = std::weak_ptr(token_)](const std::optional<Verdict>& refusal) {
            if (alive.expired()) return;
            question_ = 0;
            if (phase_ != Phase::serving) return;
            refusal ? deny(refusal->reason, refusal->advice) : exchange_->approve();
            run();
        });
}

// The head is judged: the server, then the values, then the head.
void Interception::prepare() {
    if (route_ || waits_for_values_) return;
    if (!server_.stream) return open_server();
    if (is_server_gone()) return lose_idle_server();
    if (server_.tls) {
        if (server_.tls->state() == tls::Endpoint::State::handshake) return;
        if (server_.tls->state() == tls::Endpoint::State::failed) {
            bool is_distrust = server_.tls->failure() == tls::Endpoint::Failure::not_trusted;
            std::string reason = server_.tls->fault();
            server_.stream.reset();
            if (!is_distrust)
                return answer_failure(502, {},
                                      base::format("TLS with {} failed: {}", way_.server.str(), reason));
            exchange_->refuse(Code::upstream_not_trusted, std::move(reason));
            return refuse_exchange();
        }
    }
    if (!has_values_) get_values();
}

void Interception::get_values() {
    used_ = exchange_->credentials();
    waits_for_values_ = true;
    if (exchange_->is_login()) return begin_login();
    if (!exchange_->issued().empty() && used_.size() == 1) return begin_refresh();
    broker_.need(used_, token_, [this](const std::string& failure) { take_values(failure); });
}

// The token is read under the lock of the user's file, one refresh after the other.
void Interception::begin_refresh() {
    if (refresh_) return take_values({});
    broker_.logins().await_turn(used_.front(), token_, [this](std::unique_ptr<Logins::Refresh> refresh) {
        refresh_ = std::move(refresh);
        broker_.need_anew(used_.front(), token_,
                          [this](const std::string& failure) { take_values(failure); });
    });
}

// Threat: the agent logs in with an account of its own, and the user's file gets the tokens of that account
// (tests/egress/logins.bats). So a log-in from inside is only possible where the user has none.
void Interception::begin_login() {
    broker_.need(exchange_->issued(), token_, [this](const std::string& failure) {
        if (!failure.empty()) return take_values({});
        waits_for_values_ = false;
        if (phase_ != Phase::serving) return;
        exchange_->refuse(Code::foreign_credential,
                          "you are logged in outside, and a log-in from inside would put another account in "
                          "the place of yours; log in outside, or remove the file of the log-in");
        refuse_exchange();
        run();
    });
}

void Interception::take_values(const std::string& failure) {
    waits_for_values_ = false;
    if (phase_ != Phase::serving) return;
    // New rules came meanwhile: they ask the user, or read the body first.
    if (exchange_->stage() != RequestStage::ready) return run();
    has_values_ = true;
    if (failure.empty()) {
        send_head();
    } else {
        exchange_->refuse(Code::credential_unavailable, failure);
        refuse_exchange();
    }
    run();
}

// Threat: bytes that the server sent without a request would be taken for the answer to this one.
bool Interception::is_server_gone() const {
    return server_.is_broken || server_.has_ended || (has_answered_ && !server_.plain.empty());
}

// Nothing of the request was sent.
void Interception::lose_idle_server() {
    if (!has_answered_ || std::exchange(has_reopened_, true))
        return answer_failure(502, {}, base::format("{} closed the connection", way_.server.str()));
    Side fresh;
    fresh.sent = server_.sent;
    fresh.received = server_.received;
    server_ = std::move(fresh);
    has_answered_ = false;
    open_server();
}

void Interception::open_server() {
    route_ = make_route_(server_target_, [this](std::optional<Arrival> arrival, const RouteFailure& failure) {
        context_.loop.bury(std::move(route_));
        take_arrival(std::move(arrival), failure);
        run();
    });
    route_->start();
}

void Interception::take_arrival(std::optional<Arrival> arrival, const RouteFailure& failure) {
    if (phase_ != Phase::serving) return;
    if (!arrival) {
        bool is_refused = failure.kind == RouteFailure::Kind::refused;
        std::string text = is_refused
                               ? refusal_text(failure.verdict, server_target_.text())
                               : base::format("agent-sandbox: {} (the policy allows it).", failure.reason);
        return answer_failure(status_of(failure.kind), failure.verdict.rule, text);
    }
    address_ = arrival->address;
    server_.stream = std::move(arrival->stream);
    server_.is_readable = true;
    server_.stream.watch(*this, kServerSide);
    since_ = Clock::now();
    if (!exchange_context_.place.is_encrypted) {
        server_.plain = std::move(arrival->early);
        return;
    }
    base::Result<tls::ClientContext*> context = broker_.toward_servers();
    using Offer = tls::Endpoint::Offer;
    const Offer offer = client_.session == nullptr ? Offer::http1 : Offer::http2_too;
    base::Result<tls::Endpoint> made = context ? tls::Endpoint::client(**context, way_.server.str(), offer)
                                               : base::Result<tls::Endpoint>(context.error());
    if (!made) return answer_failure(502, {}, "agent-sandbox: " + made.error().line());
    server_.tls.emplace(*std::move(made));
    server_.frames.reset();
    server_.tls->receive(arrival->early);
}

void Interception::send_head() {
    if (is_server_gone()) {
        has_values_ = false;
        return lose_idle_server();
    }
    std::vector<const base::SecretValue*> values;
    for (size_t binding : used_) values.push_back(&broker_.value(binding));
    forms_ = broker_.forms();
    answer_.emplace(exchange_->request(), forms_.get());
    if (!exchange_->issued().empty()) answer_->expect_tokens(broker_.bindings(), exchange_->issued());
    std::string onward;
    base::SecretValue head = exchange_->write_head(values, onward);
    hold_body(0);
    if (server_.frames) {
        head.reveal([&](std::string_view bytes) { write_frames(bytes); });
    } else if (server_.tls) {
        server_.tls->write(head);
    } else {
        // Without TLS no value is in it: exchange_checks.cc binds values to verified servers.
        head.reveal([&](std::string_view bytes) { server_.out += bytes; });
    }
    if (!onward.empty()) write(server_, onward);
    if (exchange_->stage() == RequestStage::refused) refuse_exchange();
}

bool Interception::take_answer() {
    if (!answer_) {
        // The server closes a connection that no request uses.
        bool is_idle = server_.stream && (!exchange_ || exchange_->stage() == RequestStage::head);
        if (is_idle && is_server_gone()) leave({});
        return phase_ != Phase::serving;
    }
    size_t used = 0;
    std::string out;
    if (!server_.plain.empty() && client_.out.size() < kMostWaiting) {
        // Threat: a stream that is older than the first use of a value shows it.
        if (auto forms = broker_.forms(); forms && forms != forms_) {
            answer_->search_for(forms.get());
            forms_ = std::move(forms);
        }
        used = answer_->take(server_.plain, out);
        server_.plain.erase(0, used);
    }
    bool is_over = (server_.has_ended || server_.is_broken) && server_.plain.empty();
    if (is_over) answer_->end(out);
    if (!out.empty()) write(client_, out);
    if (answer_->stage() == AnswerStage::tunnel && exchange_->stage() == RequestStage::upgrading)
        exchange_->start_tunnel();
    if (answer_->stage() == AnswerStage::failed) {
        lose_server();
    } else if (answer_->stage() == AnswerStage::complete) {
        end_exchange();
    }
    return used > 0 || is_over;
}

void Interception::end_exchange() {
    constexpr int kUnauthorized = 401;
    int status = answer_->status();
    record(status, {},
           answer_->is_uninspected() ? "the answer is compressed and was not decoded to search it" : "");
    if (status == kUnauthorized) broker_.renew_later(used_);
    exchange::NewTokens issued = answer_->take_tokens();
    if (refresh_ && !issued.tokens.empty()) refresh_->note_tokens();
    broker_.take_tokens(std::move(issued), exchange_->is_login());
    refresh_.reset();
    bool is_sent =
        exchange_->stage() == RequestStage::complete || exchange_->stage() == RequestStage::upgrading;
    bool keeps = answer_->keeps_alive() && is_sent && !server_.has_ended && !server_.is_broken &&
                 server_.plain.empty();
    has_answered_ = true;
    answer_.reset();
    exchange_.reset();
    since_ = Clock::now();
    if (!keeps) leave({});
}

void Interception::refuse_exchange() {
    const exchange::Refusal& refusal = exchange_->refusal();
    bool has_started = answer_ && answer_->has_started();
    record(refusal.http_status(), to_text(refusal.code), refusal.reason);
    if (exchange_->is_finding())
        broker_.tell_once(
            "placeholder " + way_.server.str(),
            "a program in the jail tried to send a credential to another host: " + refusal.reason);
    if (refusal.code == Code::credential_unavailable || refusal.code == Code::upstream_not_trusted)
        broker_.tell_once(refusal.reason, refusal.reason);
    if (has_started) {
        answer_.reset();
        return abort("a request was refused within its answer");
    }
    // Reset the server, so that it does not take the beginning of a refused request for all of it.
    server_.stream.reset();
    leave(exchange_->refusal_answer());
}

void Interception::answer_failure(int status, std::string_view rule, const std::string& reason) {
    record(status, "unreachable", reason);
    server_.stream.reset();
    leave(wire::http_refusal({.status = status,
                              .rule = rule,
                              .reason = reason,
                              .answers_head = exchange_->request().method == "HEAD"}));
}

void Interception::lose_server() {
    std::string reason =
        base::format("the answer of {} can't be used: {}", way_.server.str(), answer_->fault());
    bool has_started = answer_->has_started();
    bool was_idle = has_answered_ && answer_->is_untouched();
    if (has_started || was_idle) {
        record(has_started ? answer_->status() : 502, to_text(Code::answer_malformed), reason);
        const std::string& method = exchange_->request().method;
        const bool is_safe = method == "GET" || method == "HEAD" || method == "OPTIONS";
        answer_.reset();
        return abort(std::move(reason), was_idle && !has_started && is_safe);
    }
    exchange_->refuse(Code::answer_malformed, std::move(reason));
    refuse_exchange();
}

// The client has closed its sending side. An answer that is on its way is still delivered.
void Interception::lose_client() {
    bool has_request = exchange_ && exchange_->stage() != RequestStage::head;
    if (!has_request) return leave({});
    bool is_sent = exchange_->stage() == RequestStage::complete ||
                   exchange_->stage() == RequestStage::upgrading ||
                   exchange_->stage() == RequestStage::tunnel;
    bool waits = exchange_->stage() == RequestStage::ready;
    if (waits) return;
    if (!is_sent) return abort("the client closed the connection within a request");
    flush(server_);
    if (!server_.out.empty() || std::exchange(has_passed_end_, true)) return;
    if (server_.tls) {
        server_.tls->close();
        flush(server_);
    }
    if (server_.stream) ::shutdown(server_.stream.fd(), SHUT_WR);
}

std::string Interception::names_of(const std::vector<size_t>& bindings) const {
    std::string names;
    for (size_t binding : bindings) {
        if (!names.empty()) names += ' ';
        names += broker_.bindings()[binding].name;
    }
    return names;
}

void Interception::record(int status, std::string_view code, const std::string& reason) {
    broker_.count_request(used_, code.empty());
    // Many requests on open connections: their lines are not even made.
    if (code.empty() && context_.journal.leaves_out_requests()) {
        ++unrecorded_;
        return;
    }
    const requests::Verdict& verdict = exchange_->verdict();
    RequestEntry entry{.name = way_.server.str(),
                       .port = way_.port,
                       .method = exchange_->request().method,
                       .path = broker_.records_paths() ? exchange_->recorded_path() : std::string(),
                       .is_allowed = code.empty(),
                       .is_observed = verdict.is_observed,
                       .is_finding = exchange_->is_finding(),
                       .status = status,
                       .code = code,
                       .reason = reason,
                       .credential = names_of(used_),
                       .sent = server_.sent - sent_before_,
                       .received = server_.received - received_before_};
    if (!code.empty()) entry.change = exchange_->refusal().change;
    if (verdict.rule != nullptr) {
        entry.rule = verdict.rule->text;
        entry.origin = verdict.rule->origin.describe();
    }
    entry.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - request_since_);
    if (!context_.journal.record_request(entry)) ++unrecorded_;
}

}  // namespace network::gateway
