// SPDX-License-Identifier: MIT
#include "network/gateway/control/approvals.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace network::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kLongestReason = 256;

// "2m", "90s".
std::string time_text(seconds time) {
    bool is_whole = time.count() >= 60 && time.count() % 60 == 0;
    return is_whole ? std::to_string(time.count() / 60) + "m" : std::to_string(time.count()) + "s";
}

QuestionEntry entry_of(uint64_t id, const AskedAbout& what) {
    QuestionEntry entry{.id = id, .name = what.name.str(), .port = what.port};
    if (!what.request) return entry;
    entry.method = what.request->method;
    entry.path = what.request->recorded_path;
    entry.detail = what.request->detail;
    entry.credential = what.request->credential;
    return entry;
}

}  // namespace

Approvals::~Approvals() {
    for (auto& [id, question] : questions_) loop_.cancel(question.timer);
}

Approvals::Key Approvals::key_of(const AskedAbout& what) {
    return {what.name.str(), what.port, what.request ? what.request->key : std::string()};
}

Verdict Approvals::refused(const AskedAbout& what, std::string reason, std::string advice) const {
    return Verdict{.cause = Cause::ask,
                   .origin = egress_.rules.mode_origin,
                   .reason = std::move(reason),
                   .advice = std::move(advice),
                   .change = what.request ? std::string() : "--allow-host " + what.name.str()};
}

std::optional<Verdict> Approvals::denial_of(const AskedAbout& what) const {
    auto found = denied_.find(key_of(what));
    if (found == denied_.end()) return std::nullopt;
    std::string reason = "the user denied it";
    if (!found->second.empty()) reason += ": " + found->second;
    return refused(what, std::move(reason), "");
}

std::optional<Verdict> Approvals::obstacle_to(const AskedAbout& what) const {
    if (std::optional<Verdict> denial = denial_of(what)) return denial;
    constexpr const char* kAdvice = "let your user answer what is asked: agent-sandbox pending";
    if (held_.size() >= kMostHeld) {
        return refused(what, std::to_string(kMostHeld) + " connections wait for the user's answer already",
                       kAdvice);
    }
    if (questions_.size() >= kMost && !by_target_.contains(key_of(what))) {
        return refused(what,
                       base::format("{} {} wait for the user's answer already", kMost,
                                    what.request ? "questions" : "hosts"),
                       kAdvice);
    }
    return std::nullopt;
}

uint64_t Approvals::ask(const AskedAbout& what, std::map<Ticket, Done> waiting) {
    uint64_t id = ++last_id_;
    Question question{.what = what, .since = base::EventLoop::Clock::now(), .waiting = std::move(waiting)};
    for (const auto& [ticket, done] : question.waiting) held_[ticket] = id;
    question.timer = loop_.after(egress_.ask_time, [this, id] { expire(id); });
    questions_.emplace(id, std::move(question));
    by_target_[key_of(what)] = id;
    journal_.record_ask(entry_of(id, what));
    return id;
}

Approvals::Ticket Approvals::hold(const AskedAbout& what, Done done) {
    auto target = by_target_.find(key_of(what));
    uint64_t id = target != by_target_.end() ? target->second : ask(what, {});
    Ticket ticket = ++last_ticket_;
    questions_.at(id).waiting.emplace(ticket, std::move(done));
    held_.emplace(ticket, id);
    return ticket;
}

void Approvals::cancel(Ticket& ticket) {
    auto held = held_.find(std::exchange(ticket, 0));
    if (held == held_.end()) return;
    uint64_t id = held->second;
    auto question = questions_.find(id);
    question->second.waiting.erase(held->first);
    held_.erase(held);
    if (question->second.waiting.empty()) answer(id, false, "no request waits for it any more", std::nullopt);
}

void Approvals::deny(uint64_t id, std::string_view reason) {
    auto found = questions_.find(id);
    if (found == questions_.end()) return;
    AskedAbout what = found->second.what;
    // The reason becomes part of lines in several protocols.
    std::string shown = base::printable(reason.substr(0, kLongestReason));
    denied_[key_of(what)] = shown;
    answer(id, false, shown, denial_of(what));
}

// Threat: a jail makes the same request many times while the user looks at one of them. With `is_once` one
// answer is one request (tests/gateway/approvals_test.cc).
void Approvals::approve(uint64_t id, bool is_once) {
    auto found = questions_.find(id);
    if (found == questions_.end() || !found->second.what.request) return;
    if (!is_once) {
        approved_.insert(key_of(found->second.what));
        return answer(id, true, "", std::nullopt);
    }
    Question question = take(id, true, "once");
    auto oldest = question.waiting.extract(question.waiting.begin());
    if (!question.waiting.empty()) ask(question.what, std::move(question.waiting));
    oldest.mapped()(std::nullopt);
}

void Approvals::expire(uint64_t id) {
    Question& question = questions_.at(id);
    question.timer = 0;
    std::string reason = "no answer came within " + time_text(egress_.ask_time);
    Verdict refusal = refused(question.what, reason,
                              "ask your user to answer in another terminal (agent-sandbox pending, then "
                              "approve or deny) and then try once more");
    answer(id, false, reason, refusal);
}

// Rules about hosts say nothing about a request.
void Approvals::judge_again() {
    auto judged = [this](const AskedAbout& what) {
        return engine_.decide({what.name, what.port, Transport::tcp});
    };
    std::vector<uint64_t> decided;
    for (const auto& [id, question] : questions_) {
        bool is_decided = !question.what.request && judged(question.what).decision != Decision::ask;
        if (is_decided) decided.push_back(id);
    }
    for (uint64_t id : decided) {
        auto found = questions_.find(id);
        // The clients may have left while others were called back.
        if (found == questions_.end()) continue;
        Verdict verdict = judged(found->second.what);
        answer(id, verdict.is_allowed(), verdict.is_allowed() ? "" : verdict.reason, std::nullopt);
    }
}

// Removes it from the maps and records the answer.
Approvals::Question Approvals::take(uint64_t id, bool is_allowed, const std::string& reason) {
    auto found = questions_.find(id);
    Question question = std::move(found->second);
    questions_.erase(found);
    by_target_.erase(key_of(question.what));
    loop_.cancel(question.timer);
    for (const auto& [ticket, done] : question.waiting) held_.erase(ticket);
    QuestionEntry entry = entry_of(id, question.what);
    entry.is_allowed = is_allowed;
    entry.reason = reason;
    journal_.record_answer(entry);
    return question;
}

// First take(): a callback may ask another question.
void Approvals::answer(uint64_t id, bool is_allowed, const std::string& reason,
                       const std::optional<Verdict>& refusal) {
    Question question = take(id, is_allowed, reason);
    for (const auto& [ticket, done] : question.waiting) done(refusal);
}

std::vector<Approvals::Pending> Approvals::pending() const {
    base::EventLoop::Clock::time_point now = base::EventLoop::Clock::now();
    std::vector<Pending> all;
    for (const auto& [id, question] : questions_) {
        auto age = std::chrono::duration_cast<milliseconds>(now - question.since);
        all.push_back({.id = id,
                       .what = question.what,
                       .age = age,
                       .left = std::max(milliseconds(0), milliseconds(egress_.ask_time) - age)});
    }
    return all;
}

}  // namespace network::gateway
