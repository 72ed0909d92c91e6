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

}  // namespace

Questions::~Questions() {
    for (auto& [id, question] : questions_) loop_.cancel(question.timer);
}

Verdict Questions::refused(const HostName& name, std::string reason, std::string advice) const {
    return Verdict{.cause = Cause::ask,
                   .origin = egress_.rules.mode_origin,
                   .reason = std::move(reason),
                   .advice = std::move(advice),
                   .change = "--allow-host " + name.str()};
}

std::optional<Verdict> Questions::denial_of(const HostName& name, uint16_t port) const {
    auto found = denied_.find({name.str(), port});
    if (found == denied_.end()) return std::nullopt;
    std::string reason = "the user denied it";
    if (!found->second.empty()) reason += ": " + found->second;
    return refused(name, std::move(reason), "");
}

std::optional<Verdict> Questions::obstacle_to(const HostName& name, uint16_t port) const {
    if (std::optional<Verdict> denial = denial_of(name, port)) return denial;
    constexpr const char* kAdvice = "let your user answer what is asked: agent-sandbox pending";
    if (held_.size() >= kMostHeld) {
        return refused(name, std::to_string(kMostHeld) + " connections wait for the user's answer already",
                       kAdvice);
    }
    if (questions_.size() >= kMost && !by_target_.contains({name.str(), port})) {
        return refused(name, std::to_string(kMost) + " hosts wait for the user's answer already", kAdvice);
    }
    return std::nullopt;
}

Questions::Ticket Questions::hold(const HostName& name, uint16_t port, Done done) {
    auto [target, is_new] = by_target_.emplace(Key{name.str(), port}, last_id_ + 1);
    uint64_t id = target->second;
    if (is_new) {
        ++last_id_;
        Question question{.name = name, .port = port, .since = base::EventLoop::Clock::now(), .waiting = {}};
        question.timer = loop_.after(egress_.ask_time, [this, id] { expire(id); });
        questions_.emplace(id, std::move(question));
        journal_.record_ask({.id = id, .name = name.str(), .port = port, .reason = {}});
    }
    Ticket ticket = ++last_ticket_;
    questions_.at(id).waiting.emplace(ticket, std::move(done));
    held_.emplace(ticket, id);
    return ticket;
}

void Questions::cancel(Ticket& ticket) {
    auto held = held_.find(std::exchange(ticket, 0));
    if (held == held_.end()) return;
    uint64_t id = held->second;
    auto question = questions_.find(id);
    question->second.waiting.erase(held->first);
    held_.erase(held);
    if (question->second.waiting.empty()) answer(id, false, "no request waits for it any more", std::nullopt);
}

void Questions::deny(uint64_t id, std::string_view reason) {
    auto found = questions_.find(id);
    if (found == questions_.end()) return;
    HostName name = found->second.name;
    uint16_t port = found->second.port;
    // The reason becomes part of lines in several protocols.
    std::string shown = base::printable(reason.substr(0, kLongestReason));
    denied_[{name.str(), port}] = shown;
    answer(id, false, shown, denial_of(name, port));
}

void Questions::expire(uint64_t id) {
    Question& question = questions_.at(id);
    question.timer = 0;
    std::string reason = "no answer came within " + time_text(egress_.ask_time);
    Verdict refusal = refused(question.name, reason,
                              "ask your user to answer in another terminal (agent-sandbox pending, then "
                              "approve or deny) and then try once more");
    answer(id, false, reason, refusal);
}

void Questions::judge_again() {
    std::vector<uint64_t> decided;
    for (const auto& [id, question] : questions_) {
        Verdict verdict = engine_.decide({question.name, question.port, Transport::tcp});
        if (verdict.decision != Decision::ask) decided.push_back(id);
    }
    for (uint64_t id : decided) {
        auto found = questions_.find(id);
        // The clients may have left while others were called back.
        if (found == questions_.end()) continue;
        Verdict verdict = engine_.decide({found->second.name, found->second.port, Transport::tcp});
        answer(id, verdict.is_allowed(), verdict.is_allowed() ? "" : verdict.reason, std::nullopt);
    }
}

// Remove it from the maps first: a callback may ask another question.
void Questions::answer(uint64_t id, bool is_allowed, const std::string& reason,
                       const std::optional<Verdict>& refusal) {
    auto found = questions_.find(id);
    Question question = std::move(found->second);
    questions_.erase(found);
    by_target_.erase({question.name.str(), question.port});
    loop_.cancel(question.timer);
    for (const auto& [ticket, done] : question.waiting) held_.erase(ticket);
    journal_.record_answer({.id = id,
                            .name = question.name.str(),
                            .port = question.port,
                            .is_allowed = is_allowed,
                            .reason = reason});
    for (const auto& [ticket, done] : question.waiting) done(refusal);
}

std::vector<Questions::Pending> Questions::pending() const {
    base::EventLoop::Clock::time_point now = base::EventLoop::Clock::now();
    std::vector<Pending> all;
    for (const auto& [id, question] : questions_) {
        auto age = std::chrono::duration_cast<milliseconds>(now - question.since);
        all.push_back({.id = id,
                       .name = question.name.str(),
                       .port = question.port,
                       .age = age,
                       .left = std::max(milliseconds(0), milliseconds(egress_.ask_time) - age)});
    }
    return all;
}

}  // namespace network::gateway
