// SPDX-License-Identifier: MIT
// `pending`, `approve` and `deny`: questions of sessions with --ask. The user answers in another terminal,
// never in the agent's.
#include <algorithm>
#include <set>
#include <thread>

#include "base/encoding/json.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "monitor/cells.h"
#include "session/control/control_client.h"

namespace cli {
namespace {

using base::Json;
using session::Known;

constexpr std::chrono::milliseconds kAnswerTimeout{1000};  // in a list: one session must not delay the others
constexpr std::chrono::milliseconds kRound{300};

struct Question {
    Known known;
    Json content;

    int64_t id() const { return content.number("id"); }
    std::string target() const {
        return base::with_port(base::printable(content.text("name")), content.number("port"));
    }
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

std::string age(const Question& question, std::string_view key) {
    return monitor::age_text(std::chrono::milliseconds(question.content.number(key)));
}

std::string list_text(const std::vector<Question>& questions, bool is_coloured) {
    base::Table table;
    table.add({{"ID", base::Style::dim},
               {"SESSION", base::Style::dim},
               {"HOST", base::Style::dim},
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

// Prints each question once, one line each, until the caller stops it; with --session until that session
// ends.
int follow(const Invocation& call) {
    std::set<std::pair<std::string, int64_t>> told;
    bool is_one = !call.arguments.own_value(kSessionFlag).empty();
    for (bool is_first = true;; is_first = false) {
        base::Result<std::vector<Known>> sessions = chosen_sessions(call);
        if (!sessions) return is_one && !is_first ? 0 : call.output.fail(sessions.error());
        for (const Question& question : questions_of(*sessions)) {
            if (!told.emplace(question.known.id, question.id()).second) continue;
            std::string line =
                call.arguments.wants_json
                    ? question.json().dump(-1)
                    : base::format("{}  {}  {}  {} left", question.id(), short_id(question.known),
                                   question.target(), age(question, "left_ms"));
            if (int code = call.output.result(line + "\n")) return code;
        }
        std::this_thread::sleep_for(kRound);
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
    base::Result<Json> reply = session::ask_session(question->known, request);
    if (!reply) return call.output.fail(reply.error());
    return call.output.result(
        base::format("session {}: {}{}\n", short_id(question->known), question->target(), done));
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
