// SPDX-License-Identifier: MIT
// Signatures that wait for the user's answer (ssh.ask, ssh.unbound). All that wait for the same target and
// key are one question. The answer is "yes" for the session or for the oldest one, "no" for the session, or
// none within the time. It has no clock and no socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ssh_agent/filter.h"

namespace ssh_agent {

// The gateway counts its questions from 1 and shares the user's list with these.
inline constexpr uint64_t kFirstQuestion = 1'000'001;

class Questions {
  public:
    using Clock = std::chrono::steady_clock;
    using Waiting = uint64_t;  // a connection

    static constexpr size_t kMost = 16;

    struct Question {
        uint64_t id = 0;
        Use use;
        Clock::time_point since;
        std::vector<Waiting> waiting;  // the oldest first
    };

    // What the user has answered before; nothing: not answered.
    struct Earlier {
        bool is_approved = false;
        std::string reason;  // of a denial
    };
    std::optional<Earlier> earlier(const Use& use) const;
    // The question's id if it is a new one; 0 otherwise. Nothing: too many questions.
    std::optional<uint64_t> hold(const Use& use, Waiting waiting, Clock::time_point now);
    // The connection has gone.
    void cancel(Waiting waiting);

    // The answers to the connections that waited. `is_once`: the oldest one goes on, and the others stay.
    struct Answered {
        Use use;
        std::vector<Waiting> waiting;
    };
    std::optional<Answered> approve(uint64_t id, bool is_once);
    std::optional<Answered> deny(uint64_t id, std::string reason);
    // A question that is older than this, if there is one.
    std::optional<Answered> expire(Clock::time_point now, Clock::duration longest);
    // When the oldest question began.
    std::optional<Clock::time_point> oldest() const;

    const std::map<uint64_t, Question>& list() const { return questions_; }

  private:
    using Subject = std::pair<std::string, std::string>;  // target and key
    static Subject subject_of(const Use& use) { return {use.target, use.key}; }
    std::optional<Answered> take(uint64_t id);

    uint64_t next_id_ = kFirstQuestion;
    std::map<uint64_t, Question> questions_;
    std::set<Subject> approved_;
    std::map<Subject, std::string> denied_;
};

}  // namespace ssh_agent
