// SPDX-License-Identifier: MIT
#include "session/control/steering.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "plan/system/limits.h"
#include "session/limits/limits.h"
#include "session/limits/usage.h"

namespace session {
namespace {

constexpr size_t kLongestReason = 200;

base::Json accepted() {
    return base::Json::object().set("ok", true);
}

std::string host_of(const base::Json& question) {
    return base::with_port(question.text("name"), question.number("port"));
}

const base::Json* question_of(const base::Json& state, int64_t id) {
    for (const base::Json& question : state.items("pending")) {
        if (question.number("id") == id) return &question;
    }
    return nullptr;
}

base::Error no_question(int64_t id) {
    return {.what = "nothing waits for an answer under the number " + std::to_string(id),
            .advice = "'agent-sandbox pending' lists what does",
            .where = {}};
}

base::Json json_of(const LiveRules& live) {
    base::Json rules = base::Json::array();
    for (const LiveRule& rule : live.rules()) {
        rules.push(base::Json::object()
                       .set("action", rule.is_allowed ? "allow" : "block")
                       .set("target", rule.target));
    }
    return rules;
}

}  // namespace

Steering::Steering(Control& control, Parts parts) : parts_(std::move(parts)) {
    using base::Json;
    control.handle("status", [this](const Json&, const Reply& reply) { tell_status(reply); });
    control.handle("stop", [this](const Json& request, const Reply& reply) { stop(request, reply); });
    control.handle("allow",
                   [this](const Json& request, const Reply& reply) { change(true, request, reply); });
    control.handle("block",
                   [this](const Json& request, const Reply& reply) { change(false, request, reply); });
    control.handle("reload", [this](const Json&, const Reply& reply) { reload(reply); });
    control.handle("approve",
                   [this](const Json& request, const Reply& reply) { answer(true, request, reply); });
    control.handle("deny",
                   [this](const Json& request, const Reply& reply) { answer(false, request, reply); });
}

// The current memory, processes and time; the other limits only if they are set.
base::Json Steering::limits() const {
    base::Json limits = base::Json::array();
    pid_t stage = parts_.stage();
    for (const plan::NamedLimit& named : plan::named_limits()) {
        uint64_t value = (parts_.plan.limits.*named.field).value;
        base::Json limit = base::Json::object();
        limit.set("name", named.key).set("value", static_cast<int64_t>(value));
        limit.set("text", value > 0 ? plan::limit_text(named, parts_.plan.limits) : "");
        bool is_measured = stage > 0 && Meter::is_possible();
        if (named.key == "limits.memory" && is_measured) {
            // The quick sum: an exact one is only needed for a limit that is nearly reached.
            Meter meter(stage, memory_file_systems(parts_.plan));
            limit.set("used", static_cast<int64_t>(meter.memory(UINT64_MAX)));
        } else if (named.key == "limits.processes" && is_measured) {
            limit.set("used", static_cast<int64_t>(Meter(stage, {}).processes()));
        } else if (named.key == "limits.wall_time") {
            auto passed = std::chrono::steady_clock::now() - began_;
            limit.set("used", int64_t{std::chrono::duration_cast<std::chrono::seconds>(passed).count()});
        } else if (value == 0) {
            continue;
        }
        limits.push(std::move(limit));
    }
    return limits;
}

void Steering::tell_status(const Reply& reply) {
    auto uptime = std::chrono::steady_clock::now() - began_;
    base::Json status = accepted();
    status.set("session", parts_.directory.metadata());
    status.set("uptime_ms", int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(uptime).count()});
    status.set("limits", limits()).set("live", json_of(parts_.live)).set("policy", parts_.live.policy());
    if (parts_.gateway.process() < 0) return reply(status);
    parts_.gateway.ask_state([status, reply](const base::Result<std::string>& text) mutable {
        base::Result<base::Json> state = base::Json::parse(text ? *text : "{}");
        if (state) {
            for (const auto& [key, value] : state->members()) status.set(key, value);
        }
        reply(status);
    });
}

void Steering::stop(const base::Json& request, const Reply& reply) {
    reply(accepted());
    parts_.stop(request.truth("now"));
}

void Steering::change(bool is_allowed, const base::Json& request, const Reply& reply) {
    std::string target = request.text("target");
    if (target.empty()) return reply(refusal({.what = "no host is named", .advice = {}, .where = {}}));
    parts_.live.add({is_allowed, target}, [this, reply](const base::Result<LiveRules::Changed>& changed) {
        if (!changed) return reply(refusal(changed.error()));
        base::Json done = accepted().set("closed", static_cast<int64_t>(changed->closed));
        reply(done.set("policy", parts_.live.policy()));
    });
}

void Steering::reload(const Reply& reply) {
    parts_.live.reload([this, reply](const base::Result<LiveRules::Changed>& changed) {
        if (!changed) return reply(refusal(changed.error()));
        base::Json restart = base::Json::array();
        for (const std::string& setting : changed->restart) restart.push(setting);
        base::Json done = accepted().set("closed", static_cast<int64_t>(changed->closed));
        reply(done.set("restart", std::move(restart)).set("policy", parts_.live.policy()));
    });
}

void Steering::answer(bool is_approved, const base::Json& request, const Reply& reply) {
    int64_t id = request.number("id", -1);
    std::string reason = request.text("reason").substr(0, kLongestReason);
    if (parts_.gateway.process() < 0) return reply(refusal(no_question(id)));
    parts_.gateway.ask_state([=, this](const base::Result<std::string>& text) {
        base::Result<base::Json> state = text ? base::Json::parse(*text) : text.error();
        const base::Json* question = state ? question_of(*state, id) : nullptr;
        if (question == nullptr) return reply(refusal(no_question(id)));
        // The gateway answers the waiting connection and records the approval when the rule takes effect.
        if (is_approved) {
            base::Json change = base::Json::object().set("target", host_of(*question));
            return this->change(true, change, reply);
        }
        parts_.gateway.deny(static_cast<uint64_t>(id), reason);
        reply(accepted());
    });
}

}  // namespace session
