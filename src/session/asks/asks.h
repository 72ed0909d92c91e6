// SPDX-License-Identifier: MIT
// What the agent asks the user for (`agent-sandbox request`): a host, a path, a variable. Each question is
// examined before the user sees it, and shows what an approval would open: the canonical host, the path
// without symbolic links. It never changes after that. Nothing is opened by a question alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "audit/writer.h"
#include "base/encoding/json.h"
#include "base/file.h"
#include "base/result.h"
#include "session/asks/message.h"
#include "session/control/control.h"

namespace session {

// What an examination finds out.
struct Examined {
    enum class Verdict { ask, open, refused };  // open: it is allowed already
    Verdict verdict = Verdict::refused;
    std::string text;      // open, refused: for the agent
    std::string name;      // ask: what an approval opens; shown and stored exactly so
    std::string identity;  // ask: of a path, the file that has the name now
    std::string note;      // ask: for the user
};

// The decisions, made by the program that made the plan. Called in forked processes.
struct AskRules {
    std::function<Examined(const Ask&)> examine;
    // Writes an approved path or variable to the user's settings. Returns where, for the user.
    std::function<base::Result<std::string>(const Ask&, const std::string& identity)> store;
};

inline constexpr size_t kLongestReason = 200;  // of a user's answer

base::Error no_question(int64_t id);

class Asks {
  public:
    // A jail can ask anything. These limits protect the user's list and the processor.
    static constexpr size_t kMostWaiting = 8;
    static constexpr size_t kMostAsks = 200;   // of a session, answered or not
    static constexpr size_t kMostClients = 4;  // of a question
    // The gateway's questions have smaller numbers, those of the ssh-agent greater ones (questions.h).
    static constexpr int64_t kFirstId = 100'001;

    using OnOpened = std::function<void(const base::Status&)>;
    struct Parts {
        Control& control;
        audit::Writer& record;
        AskRules rules;  // not set: every question is refused
        std::function<void(std::string target, OnOpened on_opened)> open_host;
        std::function<void(std::string_view text)> notify;
    };
    explicit Asks(Parts parts) : parts_(std::move(parts)) {}
    ~Asks();
    Asks(const Asks&) = delete;
    Asks& operator=(const Asks&) = delete;

    // A message of the jail, and the socket that takes the answer.
    void take(std::string_view message, base::Fd client);

    // For `pending`: the oldest first.
    base::Json::Array pending() const;
    void approve(int64_t id, const Control::Reply& reply);
    void deny(int64_t id, const std::string& reason, const Control::Reply& reply);

  private:
    using Clock = std::chrono::steady_clock;
    enum class State { examined, waits, approved_now, answered };
    struct Question {
        int64_t id = 0;  // 0: not shown to the user
        Ask asked;       // as the agent has written it
        Ask shown;       // as the user sees it
        std::string identity, note;
        State state = State::examined;
        AskAnswer answer;  // answered
        std::vector<base::Fd> clients;
        Clock::time_point since = {};
    };
    struct Work {
        std::function<std::string()> act;
        std::function<void(const std::string&)> on_done;
    };
    size_t count_waiting() const;
    Question* find(int64_t id);
    void admit(Question& question, base::Fd client);
    void file(Question& question, const std::string& text);
    void settle(Question& question, AskAnswer answer);
    void finish(Question& question, bool is_approved, const std::string& reason);
    void store(Question& question, const Control::Reply& reply);
    void enqueue(Work work);
    void begin();
    void hear();

    Parts parts_;
    std::list<Question> questions_;  // references stay valid
    int64_t last_id_ = kFirstId - 1;
    std::deque<Work> work_;  // the first one is in progress
    pid_t worker_ = -1;
    base::Fd result_;
    std::string received_;
};

}  // namespace session
