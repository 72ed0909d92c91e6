// SPDX-License-Identifier: MIT
// Theory of operation. A question has four states:
//
//   examined       a forked process makes the policy again with the entry that is asked for; a refusal, or
//                  "open already", is answered at once
//   waits          the user sees it; its text is final
//   approved_now   the host is being opened, or a forked process writes the entry for the next start
//   answered       the answer stays for the session; the same question gets it again
//
// The processes run one after the other, so a flood of questions costs one process at a time. The number of
// questions in a session is limited, so the sum is limited, too.
//
// Threat: a process of the jail passes a descriptor whose close(2) blocks, or one that makes a write of the
// supervisor do something. Only a Unix socket that keeps message boundaries is accepted, and nothing ever
// waits for it (tests/session/asks_test.cc).
#include "session/asks/asks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/encoding/codec.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"

namespace {

// What a forked process sends back after `store`.
struct Stored {
    bool is_done = false;
    std::string text, advice;
};

}  // namespace

template <>
inline constexpr session::Examined::Verdict base::kLast<session::Examined::Verdict> =
    session::Examined::Verdict::refused;
template <>
inline constexpr auto base::kFields<session::Examined> = std::tuple(&session::Examined::verdict,
                                                                    &session::Examined::text,
                                                                    &session::Examined::name,
                                                                    &session::Examined::identity,
                                                                    &session::Examined::note);
template <>
inline constexpr auto base::kFields<Stored> = std::tuple(&Stored::is_done, &Stored::text, &Stored::advice);

namespace session {
namespace {

constexpr std::string_view kExamined = "examined";
constexpr std::string_view kStored = "stored";

bool is_message_socket(int descriptor) {
    int domain = 0, type = 0;
    socklen_t size = sizeof domain;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
           ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

void send_answer(const base::Fd& client, const AskAnswer& answer) {
    const std::string text = encode(answer);
    (void)!::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

AskAnswer refused(std::string text) {
    return {AskAnswer::Kind::no, std::move(text)};
}

std::string subject_of(const Ask& ask) {
    return base::format("{} {}", to_text(ask.kind), ask.name);
}

// What an approval means, for the agent.
std::string_view effect_of(Ask::Kind kind) {
    switch (kind) {
        case Ask::Kind::host:
            return "it is open now, until the session ends";
        case Ask::Kind::path:
            return "it can be read from the next session in this project on, not in this one";
        case Ask::Kind::env:
            return "it is passed from the next session in this project on, not in this one";
    }
    return "";
}

// As the gateway's questions have them: a host has its port beside it.
struct Target {
    std::string name;
    uint16_t port = 0;
};
Target target_of(const Ask& ask) {
    const size_t colon = ask.name.rfind(':');
    if (ask.kind != Ask::Kind::host || colon == std::string::npos) return {ask.name};
    std::string name = ask.name.substr(0, colon);
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    return {std::move(name), base::parse_port(std::string_view(ask.name).substr(colon + 1)).value_or(0)};
}

audit::Line line_about(std::string_view kind, int64_t id, const Ask& ask) {
    const Target target = target_of(ask);
    audit::Line line(kind);
    line.number("id", static_cast<uint64_t>(id)).path("name", target.name).number("port", target.port);
    line.text("asks", to_text(ask.kind));
    return line;
}

[[noreturn]] void work_and_answer(const std::function<std::string()>& act, int result, pid_t supervisor) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != supervisor) ::_exit(1);
    base::close_others({result});
    base::fill_standard_descriptors();
    (void)base::write_all(result, act());
    ::_exit(0);
}

}  // namespace

Asks::~Asks() {
    if (worker_ <= 0) return;
    ::kill(worker_, SIGKILL);
    while (::waitpid(worker_, nullptr, 0) < 0 && errno == EINTR) continue;
}

size_t Asks::count_waiting() const {
    return static_cast<size_t>(std::ranges::count_if(
        questions_, [](const Question& question) { return question.state != State::answered; }));
}

Asks::Question* Asks::find(int64_t id) {
    auto found = std::ranges::find_if(questions_, [id](const Question& question) {
        return question.id == id && question.state == State::waits;
    });
    return found == questions_.end() ? nullptr : &*found;
}

void Asks::take(std::string_view message, base::Fd client) {
    if (!is_message_socket(client.get())) return;
    std::optional<Ask> ask = decode_ask(message);
    if (!ask)
        return send_answer(client, refused("the name is too long, or has characters that can't be shown"));
    if (!parts_.rules.examine || parts_.control.events() < 0)
        return send_answer(client, refused("this session takes no answer of its user"));
    // The first reason counts: the user may be reading it.
    for (Question& known : questions_) {
        if (known.asked.kind == ask->kind && known.asked.name == ask->name)
            return admit(known, std::move(client));
    }
    if (questions_.size() >= kMostAsks)
        return send_answer(client, refused(base::format("a session asks {} questions at most", kMostAsks)));
    if (count_waiting() >= kMostWaiting)
        return send_answer(
            client, refused(base::format("{} questions wait for the user's answer already", kMostWaiting)));
    Question& question = questions_.emplace_back();
    question.asked = question.shown = *ask;
    question.clients.push_back(std::move(client));
    enqueue({[this, ask = *ask] { return base::encode_message(kExamined, parts_.rules.examine(ask)); },
             [this, &question](const std::string& examined) { file(question, examined); }});
}

// A question that was asked before.
void Asks::admit(Question& question, base::Fd client) {
    if (question.state == State::answered) return send_answer(client, question.answer);
    if (question.state == State::waits)
        send_answer(client, {AskAnswer::Kind::filed, std::to_string(question.id)});
    if (question.clients.size() >= kMostClients) question.clients.erase(question.clients.begin());
    question.clients.push_back(std::move(client));
}

void Asks::file(Question& question, const std::string& text) {
    Examined examined;
    if (base::decode_message(kExamined, text, examined) != base::Decoded::well)
        return settle(question, refused("the question could not be examined"));
    if (examined.verdict == Examined::Verdict::open)
        return settle(question, {AskAnswer::Kind::yes, examined.text});
    if (examined.verdict == Examined::Verdict::refused) return settle(question, refused(examined.text));
    question.shown.name = examined.name;
    question.identity = examined.identity;
    question.note = examined.note;
    question.id = ++last_id_;
    question.state = State::waits;
    question.since = Clock::now();
    audit::Line line = line_about("ask", question.id, question.shown);
    parts_.record.write(std::move(line.text("because", question.shown.because)));
    for (const base::Fd& client : question.clients)
        send_answer(client, {AskAnswer::Kind::filed, std::to_string(question.id)});
    parts_.notify(base::format("the agent asks for {}", subject_of(question.shown)));
}

void Asks::settle(Question& question, AskAnswer answer) {
    question.state = State::answered;
    question.answer = std::move(answer);
    for (const base::Fd& client : question.clients) send_answer(client, question.answer);
    question.clients.clear();
}

void Asks::finish(Question& question, bool is_approved, const std::string& reason) {
    audit::Line line = line_about("answer", question.id, question.shown);
    line.text("verdict", is_approved ? "allow" : "deny").text("reason", reason);
    parts_.record.write(std::move(line));
    if (is_approved)
        return settle(question, {AskAnswer::Kind::yes, std::string(effect_of(question.shown.kind))});
    settle(question, refused(reason.empty() ? "the user denied it" : "the user denied it: " + reason));
}

base::Json::Array Asks::pending() const {
    base::Json::Array pending;
    for (const Question& question : questions_) {
        if (question.state != State::waits) continue;
        auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - question.since);
        const Target target = target_of(question.shown);
        base::Json row = base::Json::object();
        row.set("id", question.id)
            .set("name", target.name)
            .set("port", int64_t{target.port})
            .set("asks", to_text(question.shown.kind))
            .set("because", question.shown.because);
        if (!question.note.empty()) row.set("note", question.note);
        pending.push_back(row.set("age_ms", int64_t{age.count()}).set("left_ms", -1));
    }
    return pending;
}

base::Error no_question(int64_t id) {
    return {.what = base::format("nothing waits for an answer under the number {}", id),
            .advice = "'agent-sandbox pending' lists what does"};
}

void Asks::deny(int64_t id, const std::string& reason, const Control::Reply& reply) {
    Question* question = find(id);
    if (question == nullptr) return reply(refusal(no_question(id)));
    finish(*question, false, base::printable(reason.substr(0, kLongestReason)));
    reply(base::Json::object().set("ok", true));
}

void Asks::approve(int64_t id, const Control::Reply& reply) {
    Question* question = find(id);
    if (question == nullptr) return reply(refusal(no_question(id)));
    question->state = State::approved_now;
    if (question->shown.kind != Ask::Kind::host) return store(*question, reply);
    parts_.open_host(question->shown.name, [this, question, reply](const base::Status& opened) {
        if (!opened) {
            question->state = State::waits;
            return reply(refusal(opened.error()));
        }
        finish(*question, true, "");
        reply(base::Json::object().set("ok", true));
    });
}

void Asks::store(Question& question, const Control::Reply& reply) {
    auto act = [this, ask = question.shown, identity = question.identity] {
        base::Result<std::string> place = parts_.rules.store(ask, identity);
        Stored stored{.is_done = bool(place), .text = place ? *place : place.error().line(), .advice = {}};
        return base::encode_message(kStored, stored);
    };
    enqueue({act, [this, &question, reply](const std::string& text) {
                 Stored stored;
                 if (base::decode_message(kStored, text, stored) != base::Decoded::well)
                     stored.text = "the entry could not be written";
                 if (!stored.is_done) {
                     question.state = State::waits;
                     return reply(refusal({.what = stored.text}));
                 }
                 finish(question, true, "");
                 reply(base::Json::object().set("ok", true).set("note", stored.text));
             }});
}

void Asks::enqueue(Work work) {
    work_.push_back(std::move(work));
    if (work_.size() == 1) begin();
}

void Asks::begin() {
    received_.clear();
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return hear();
    result_ = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    const pid_t supervisor = ::getpid();
    worker_ = ::fork();
    if (worker_ == 0) work_and_answer(work_.front().act, theirs.get(), supervisor);
    ::fcntl(result_.get(), F_SETFL, O_NONBLOCK);
    parts_.control.watch(result_.get(), [this] { hear(); });
}

// Without a pipe or a process the result is empty, which every reader refuses.
void Asks::hear() {
    if (result_) {
        char bytes[4096];
        ssize_t got = ::read(result_.get(), bytes, sizeof bytes);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got > 0) {
            received_.append(bytes, static_cast<size_t>(got));
            return;
        }
        parts_.control.forget(result_.get());
        result_.reset();
    }
    while (worker_ > 0 && ::waitpid(worker_, nullptr, 0) < 0 && errno == EINTR) continue;
    worker_ = -1;
    Work done = std::move(work_.front());
    work_.pop_front();
    const std::string received = std::move(received_);
    if (!work_.empty()) begin();
    done.on_done(received);
}

}  // namespace session
