// SPDX-License-Identifier: MIT
#include "ssh_agent/questions.h"

#include <algorithm>

namespace ssh_agent {

std::optional<Questions::Earlier> Questions::earlier(const Use& use) const {
    if (auto denied = denied_.find(subject_of(use)); denied != denied_.end())
        return Earlier{.is_approved = false, .reason = denied->second};
    if (approved_.contains(subject_of(use))) return Earlier{.is_approved = true, .reason = {}};
    return std::nullopt;
}

std::optional<uint64_t> Questions::hold(const Use& use, Waiting waiting, Clock::time_point now) {
    for (auto& [id, question] : questions_) {
        if (subject_of(question.use) != subject_of(use)) continue;
        question.waiting.push_back(waiting);
        return 0;
    }
    if (questions_.size() >= kMost) return std::nullopt;
    const uint64_t id = next_id_++;
    questions_[id] = {.id = id, .use = use, .since = now, .waiting = {waiting}};
    return id;
}

void Questions::cancel(Waiting waiting) {
    for (auto& [id, question] : questions_) std::erase(question.waiting, waiting);
    std::erase_if(questions_, [](const auto& entry) { return entry.second.waiting.empty(); });
}

std::optional<Questions::Answered> Questions::take(uint64_t id) {
    auto found = questions_.find(id);
    if (found == questions_.end()) return std::nullopt;
    Answered answered{.use = std::move(found->second.use), .waiting = std::move(found->second.waiting)};
    questions_.erase(found);
    return answered;
}

// Threat: a jail asks for many signatures while the user looks at one of them. With `is_once` one answer is
// one signature (tests/ssh_agent/questions_test.cc).
std::optional<Questions::Answered> Questions::approve(uint64_t id, bool is_once) {
    auto found = questions_.find(id);
    if (found == questions_.end()) return std::nullopt;
    Question& question = found->second;
    if (!is_once && !question.use.is_each_asked) {
        approved_.insert(subject_of(question.use));
        return take(id);
    }
    Answered first{.use = question.use, .waiting = {question.waiting.front()}};
    question.waiting.erase(question.waiting.begin());
    if (question.waiting.empty()) {
        questions_.erase(found);
        return first;
    }
    // Under a new number: an answer that is sent twice counts once.
    auto entry = questions_.extract(found);
    entry.key() = next_id_++;
    entry.mapped().id = entry.key();
    questions_.insert(std::move(entry));
    return first;
}

std::optional<Questions::Answered> Questions::deny(uint64_t id, std::string reason) {
    std::optional<Answered> answered = take(id);
    if (answered) denied_[subject_of(answered->use)] = std::move(reason);
    return answered;
}

std::optional<Questions::Clock::time_point> Questions::oldest() const {
    std::optional<Clock::time_point> oldest;
    for (const auto& [id, question] : questions_)
        oldest = oldest ? std::min(*oldest, question.since) : question.since;
    return oldest;
}

std::optional<Questions::Answered> Questions::expire(Clock::time_point now, Clock::duration longest) {
    for (const auto& [id, question] : questions_)
        if (now - question.since >= longest) return take(id);
    return std::nullopt;
}

}  // namespace ssh_agent
