// SPDX-License-Identifier: MIT
// `allow HOST`, `block HOST`, the same with a request, `reload`, `pending`, `approve` and `deny`: change the
// policy of a running session.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "monitor/cells.h"
#include "monitor/screen.h"
#include "session/control/known_sessions.h"

namespace cli {

// `allow HOST`, `block HOST` and `reload`: change the policy of a running session.

namespace {

using base::Json;

// The result, one line for each fact.
std::string outcome(std::string done, const Json& reply) {
    std::string text = std::move(done) + "\n";
    if (int64_t closed = reply.number("closed"); closed > 0)
        text += std::to_string(closed) +
                (closed == 1 ? " connection was closed\n" : " connections were closed\n");
    std::vector<std::string> settings;
    for (const Json& setting : reply.items("restart")) {
        if (setting.as_text()) settings.push_back(base::printable(*setting.as_text()));
    }
    if (std::string note = reply.text("note"); !note.empty()) text += base::printable(note) + "\n";
    if (!settings.empty()) text += base::format("a restart is needed for: {}\n", base::join(settings, ", "));
    return text;
}

int change(const Invocation& call, const Json& request, std::string_view done) {
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    base::Result<session::Known> known =
        session::find_among(sessions->known, call.arguments.own_value(kSessionFlag));
    if (!known) return call.output.fail(known.error());
    base::Result<Json> reply = session::ask_session(*known, request);
    if (!reply) return call.output.fail(reply.error());
    return call.output.result(
        outcome(base::format("session {}: {}", short_id(*known), base::printable(done)), *reply));
}

int change_host(const Invocation& call, std::string_view done) {
    const std::string& verb = call.arguments.verb;
    if (call.arguments.words.size() != 1)
        return wrong_words(call, verb + " takes one host, or one request in quotes");
    const std::string& host = call.arguments.words[0];
    return change(call, Json::object().set("do", verb).set("target", host), host + std::string(done));
}

}  // namespace

int allow_verb(const Invocation& call) {
    return change_host(call, " is allowed from now on");
}

int block_verb(const Invocation& call) {
    return change_host(call, " is blocked from now on");
}

int reload_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "reload takes no words");
    return change(call, Json::object().set("do", "reload"), "the policy was read again");
}

// `pending`, `approve` and `deny`: questions of sessions with --ask or requests.ask. The user answers in
// another terminal, never in the agent's.

namespace {

using base::Json;
using session::Known;

constexpr std::chrono::milliseconds kAnswerTimeout{1000};  // in a list: one session must not delay the others
constexpr std::chrono::milliseconds kRound{300};
constexpr size_t kMostRemembered = 10'000;

struct Question {
    Known known;
    Json content;

    int64_t id() const { return content.number("id"); }
    std::string target() const { return monitor::question_text(content); }
    bool is_agents() const { return !content.text("asks").empty(); }
    Json json() const {
        Json row = Json::object().set("session", known.id);
        for (const auto& [key, value] : content.members()) row.set(key, value);
        return row;
    }
};

// Oldest first. Skips sessions that don't answer.
std::vector<Question> questions_of(const std::vector<Known>& sessions, const Output* output = nullptr) {
    std::vector<Question> questions;
    for (const Known& known : sessions) {
        if (known.state == Known::State::elsewhere) continue;
        base::Result<Json> status =
            session::ask_session(known, Json::object().set("do", "status"), kAnswerTimeout);
        if (!status && output != nullptr) output->warning(status.error().line());
        if (!status) continue;
        for (const Json& content : status->items("pending")) questions.push_back({known, content});
    }
    std::ranges::stable_sort(questions, [](const Question& one, const Question& other) {
        return one.content.number("age_ms") > other.content.number("age_ms");
    });
    return questions;
}

// The session of --session, or all.
base::Result<std::vector<Known>> chosen_sessions(const Invocation& call) {
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return sessions.error();
    std::string text = call.arguments.own_value(kSessionFlag);
    if (text.empty()) return std::move(sessions->known);
    base::Result<Known> known = session::find_among(sessions->known, text);
    if (!known) return known.error();
    return std::vector<Known>{*std::move(known)};
}

// A question of an agent has no time limit.
std::string age(const Question& question, std::string_view key) {
    if (question.content.number(key) < 0) return "no limit";
    return monitor::age_text(std::chrono::milliseconds(question.content.number(key)));
}

std::string list_text(const std::vector<Question>& questions, bool is_coloured) {
    base::Table table;
    bool has_request = std::ranges::any_of(questions, [](const Question& question) {
        return question.is_agents() || !question.content.text("method").empty();
    });
    table.add({{"ID", base::Style::dim},
               {"SESSION", base::Style::dim},
               {has_request ? "REQUEST" : "HOST", base::Style::dim},
               {"WAITS", base::Style::dim},
               {"LEFT", base::Style::dim}});
    for (const Question& question : questions) {
        table.add({{std::to_string(question.id())},
                   {short_id(question.known)},
                   {question.target(), base::Style::bold},
                   {age(question, "age_ms")},
                   {age(question, "left_ms")}});
    }
    return table.text(0, is_coloured);
}

using Told = std::set<std::pair<std::string, int64_t>>;

// Waits for a round. False: the program that reads the output has closed it.
bool has_reader_after_round() {
    return (base::await_events(STDOUT_FILENO, 0, kRound) & (POLLERR | POLLHUP)) == 0;
}

// Prints each question once, one line each, until the caller stops it or closes the output; with --session
// until that session ends.
int follow(const Invocation& call) {
    Told told;
    bool is_one = !call.arguments.own_value(kSessionFlag).empty();
    for (bool is_first = true;; is_first = false) {
        base::Result<std::vector<Known>> sessions = chosen_sessions(call);
        if (!sessions) return is_one && !is_first ? 0 : call.output.fail(sessions.error());
        Told waiting;
        for (const Question& question : questions_of(*sessions)) {
            waiting.emplace(question.known.id, question.id());
            if (!told.emplace(question.known.id, question.id()).second) continue;
            std::string line = call.arguments.wants_json
                                   ? question.json().dump(-1)
                                   : base::format("{}  {}  {}  {}{}", question.id(), short_id(question.known),
                                                  question.target(), age(question, "left_ms"),
                                                  question.content.number("left_ms") < 0 ? "" : " left");
            if (int code = call.output.result(line + "\n")) return code;
        }
        // A session never uses a number again. One that did not answer in this round may repeat a question.
        if (told.size() > kMostRemembered) told = std::move(waiting);
        if (!has_reader_after_round()) return 0;
    }
}

base::Error no_question(std::string what) {
    return {.what = std::move(what),
            .advice = "agent-sandbox pending lists what is asked",
            .exit_code = base::ExitCode::check_failed};
}

base::Result<Question> chosen_question(const Invocation& call) {
    base::Result<std::vector<Known>> sessions = chosen_sessions(call);
    if (!sessions) return sessions.error();
    std::vector<Question> questions = questions_of(*sessions, &call.output);
    if (!call.arguments.words.empty()) {
        const std::string& word = call.arguments.words[0];
        const std::optional<int64_t> id = base::parse_number<int64_t>(word);
        if (!id) {
            return base::Error{.what = base::format("'{}' is not the number of a question", word),
                               .advice = "agent-sandbox pending lists what is asked",
                               .exit_code = base::ExitCode::usage};
        }
        std::erase_if(questions, [id](const Question& question) { return question.id() != *id; });
        if (questions.empty()) return no_question("no request waits for an answer to question " + word);
    }
    // Threat: the oldest question that the user saw is withdrawn, and the answer is for the next one, which
    // would write a setting. So these questions are answered by their number (tests/jail/request.bats).
    const bool had_any = !questions.empty();
    if (call.arguments.words.empty())
        std::erase_if(questions, [](const Question& question) { return question.is_agents(); });
    if (questions.empty() && had_any) return no_question("an agent's request needs its number");
    if (questions.empty()) return no_question("no request waits for an answer");
    bool are_of_one = std::ranges::all_of(
        questions, [&](const Question& question) { return question.known.id == questions[0].known.id; });
    if (are_of_one) return questions[0];
    std::vector<std::string> names;
    for (const Question& question : questions) {
        std::string name = short_id(question.known);
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    base::Error error = no_question("several sessions wait for an answer: " + base::join(names, ", "));
    error.advice = "name one with --session";
    return error;
}

int answer(const Invocation& call, std::string_view done) {
    const std::string& verb = call.arguments.verb;
    if (call.arguments.words.size() > 1) return wrong_words(call, verb + " takes one question");
    base::Result<Question> question = chosen_question(call);
    if (!question) return call.output.fail(question.error());
    Json request = Json::object().set("do", verb).set("id", question->id());
    std::string reason = call.arguments.own_value("--reason");
    if (!reason.empty()) request.set("reason", reason);
    bool is_once = call.arguments.has_own("--once");
    if (is_once) request.set("once", true);
    base::Result<Json> reply = session::ask_session(question->known, request);
    if (!reply) return call.output.fail(reply.error());
    std::string text = base::format("session {}: {}{}{}\n", short_id(question->known), question->target(),
                                    done, is_once ? " once" : "");
    if (std::string note = reply->text("note"); !note.empty()) text += base::printable(note) + "\n";
    return call.output.result(text);
}

}  // namespace

int pending_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "pending takes no words");
    if (call.arguments.has_own("--follow")) return follow(call);
    base::Result<std::vector<Known>> sessions = chosen_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    std::vector<Question> questions = questions_of(*sessions, &call.output);
    if (call.arguments.wants_json) {
        Json all = Json::array();
        for (const Question& question : questions) all.push(question.json());
        return call.output.result(Json::object().set("pending", std::move(all)).dump() + "\n");
    }
    if (questions.empty()) return call.output.result("no request waits for an answer\n");
    return call.output.result(list_text(questions, call.output.colours_results()));
}

int approve_verb(const Invocation& call) {
    return answer(call, " is allowed");
}

int deny_verb(const Invocation& call) {
    return answer(call, " is refused");
}

}  // namespace cli
