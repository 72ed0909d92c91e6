// SPDX-License-Identifier: MIT
#include "session/asks/questions.h"

#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "ssh_agent/questions.h"

namespace session {
namespace {

std::string host_of(const base::Json& question) {
    return base::with_port(question.text("name"), question.number("port"));
}

const base::Json* question_of(const base::Json& state, int64_t id) {
    for (const base::Json& question : state.items("pending")) {
        if (question.number("id") == id) return &question;
    }
    return nullptr;
}

base::Json accepted() {
    return base::Json::object().set("ok", true);
}

std::string reason_in(const base::Json& request) {
    return request.text("reason").substr(0, kLongestReason);
}

// Threat: a jail makes so many questions of one part that their numbers reach those of another, and the user
// answers another question than the one shown. Such a question is neither shown nor answered
// (tests/session/asks_test.cc).
void add_questions(base::Json::Array& pending, const base::Json::Array& more, Asker asker) {
    for (const base::Json& question : more) {
        if (asker_of(question.number("id")) == asker) pending.push_back(question);
    }
}

}  // namespace

Asker asker_of(int64_t id) {
    if (id >= static_cast<int64_t>(ssh_agent::kFirstQuestion)) return Asker::ssh_agent;
    return id >= Asks::kFirstId ? Asker::command : Asker::gateway;
}

void Questions::ask_state(std::function<void(const base::Json& state)> on_state) const {
    parts_.ssh_agent.ask_state([this, on_state = std::move(on_state)](const base::Json& of_ssh) {
        auto finish = [this, on_state, of_ssh](base::Json state) {
            base::Json::Array pending;
            add_questions(pending, state.items("pending"), Asker::gateway);
            add_questions(pending, parts_.asks.pending(), Asker::command);
            add_questions(pending, of_ssh.items("pending"), Asker::ssh_agent);
            state.set("pending", std::move(pending));
            on_state(state);
        };
        if (parts_.gateway.process() < 0) return finish(base::Json::object());
        parts_.gateway.ask_state([finish](const base::Result<std::string>& text) {
            base::Result<base::Json> state = base::Json::parse(text ? *text : "{}");
            finish(state ? *std::move(state) : base::Json::object());
        });
    });
}

void Questions::answer(bool is_approved, const base::Json& request, const Reply& reply) const {
    switch (asker_of(request.number("id", -1))) {
        case Asker::gateway:
            return answer_gateway(is_approved, request, reply);
        case Asker::command:
            return answer_command(is_approved, request, reply);
        case Asker::ssh_agent:
            return answer_ssh(is_approved, request, reply);
    }
}

void Questions::answer_command(bool is_approved, const base::Json& request, const Reply& reply) const {
    const int64_t id = request.number("id", -1);
    if (is_approved && request.truth("once"))
        return reply(refusal({.what = "only a request can be approved once", .advice = "leave out --once"}));
    is_approved ? parts_.asks.approve(id, reply) : parts_.asks.deny(id, reason_in(request), reply);
}

void Questions::answer_ssh(bool is_approved, const base::Json& request, const Reply& reply) const {
    const int64_t id = request.number("id", -1);
    parts_.ssh_agent.ask_state([=, this](const base::Json& state) {
        if (question_of(state, id) == nullptr) return reply(refusal(no_question(id)));
        const auto number = static_cast<uint64_t>(id);
        is_approved ? parts_.ssh_agent.approve(number, request.truth("once"))
                    : parts_.ssh_agent.deny(number, reason_in(request));
        reply(accepted());
    });
}

void Questions::answer_gateway(bool is_approved, const base::Json& request, const Reply& reply) const {
    const int64_t id = request.number("id", -1);
    if (parts_.gateway.process() < 0) return reply(refusal(no_question(id)));
    parts_.gateway.ask_state([=, this](const base::Result<std::string>& text) {
        base::Result<base::Json> state = text ? base::Json::parse(*text) : text.error();
        const base::Json* question = state ? question_of(*state, id) : nullptr;
        if (question == nullptr) return reply(refusal(no_question(id)));
        const bool is_request = !question->text("method").empty();
        const bool is_once = request.truth("once");
        if (is_approved && is_request) {
            parts_.gateway.approve(static_cast<uint64_t>(id), is_once);
            return reply(accepted());
        }
        if (is_approved && is_once)
            return reply(
                refusal({.what = "only a request can be approved once; a host is allowed for the session",
                         .advice = "approve it without --once",
                         .where = {}}));
        // The gateway answers the waiting connection and records the approval when the rule takes effect.
        if (is_approved)
            return parts_.allow_host(base::Json::object().set("target", host_of(*question)), reply);
        parts_.gateway.deny(static_cast<uint64_t>(id), reason_in(request));
        reply(accepted());
    });
}

}  // namespace session
