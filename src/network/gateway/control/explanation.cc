// SPDX-License-Identifier: MIT
#include "network/gateway/control/explanation.h"

#include <utility>

#include "base/encoding/json.h"
#include "network/wire/http/http_refusal.h"
#include "rules/text/question_text.h"

namespace network::gateway {
namespace {

// Brackets are the only characters of a question that a URL path cannot contain.
std::string with_brackets(std::string text) {
    for (auto [escape, letter] : {std::pair("%5B", "["), std::pair("%5D", "]")}) {
        size_t at = text.find(escape);
        if (at != std::string::npos) text.replace(at, 3, letter);
    }
    return text;
}

}  // namespace

std::string explanation(const GatewayContext& context, const std::string& subject, bool answers_head) {
    base::Result<Question> question = parse_question(with_brackets(subject));
    if (!question) {
        return wire::http_refusal(
            {.status = 400, .rule = {}, .reason = question.error().line(), .answers_head = answers_head});
    }
    Verdict verdict = context.engine.decide(*question);
    const auto* name = std::get_if<HostName>(&question->host);
    if (verdict.decision == Decision::ask && name != nullptr)
        verdict = context.questions.denial_of(*name, question->port).value_or(verdict);

    base::Json object = base::Json::object();
    object.set("subject", to_text(*question));
    object.set("allowed", verdict.is_allowed());
    object.set("decision", verdict.is_observed ? std::string_view("observed") : to_text(verdict.decision));
    object.set("rule", verdict.rule);
    object.set("origin", verdict.origin.describe());
    object.set("reason", verdict.reason);
    object.set("change", verdict.change);
    return wire::http_answer(object.dump(-1) + "\n", answers_head);
}

}  // namespace network::gateway
