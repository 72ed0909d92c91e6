// SPDX-License-Identifier: MIT
// Properties of the formats that an agent requests and the texts that Slurm returns. Each function returns
// the claim that these bytes break, or null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "slurm/queries/json_answers.h"
#include "slurm/queries/redact.h"
#include "slurm/queries/sacct.h"

namespace slurm::queries {

// A format, a line break, and an answer in which "#" is the mark.
inline const char* broken_for_columns(std::string_view bytes) {
    size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view format = bytes.substr(0, end), answer = bytes.substr(std::min(end + 1, bytes.size()));
    constexpr std::string_view kNames[] = {"comment", "reason"};
    auto hidden = [](std::string_view) { return std::string("x"); };
    for (auto& marked : {mark_letters(format, "kE", "#"), mark_names(format, kNames, "#")}) {
        if (!marked) continue;
        if (marked->columns.empty()) return "a marked format has columns";
        for (const Column& column : marked->columns) {
            if (column.width.value_or(0) > 100'000) return "a width is bounded";
            if (column.width.value_or(0) > 1000) return nullptr;  // Allowed, but too slow for the test.
        }
        std::string shown = unmarked(answer, *marked, hidden);
        if (answer.find('#') == answer.npos && shown != answer)
            return "an answer without a mark stays as it is";
    }
    std::string wide(format);
    if (std::optional<CommentColumn> column = widen_comments(wide)) {
        std::string again = wide;
        if (!widen_comments(again) || again != wide) return "a wide format stays as it is";
        if (column->width <= 1000) (void)with_narrow_comments(std::string(answer), *column, {});
    } else if (wide != format) {
        return "a format without a comment stays as it is";
    }
    (void)names_all_fields(format);
    size_t marks = 0;
    for (size_t at = 0; (at = answer.find("N0NCE", at)) != answer.npos; ++at) ++marks;
    return read_accounting_rows(answer, "N0NCE").size() * 2 <= marks ? nullptr : "a row has two marks";
}

// A document of --json, alone and as a value beside the record of another user's job.
inline const char* broken_for_json(std::string_view bytes) {
    auto find = [](uint32_t) { return std::optional<Record>(); };
    std::string around =
        "{\"jobs\": [{\"job_id\": 7, \"user_name\": \"mallory\"}, " + std::string(bytes) + "]}";
    for (std::string_view text : {bytes, std::string_view(around)}) {
        auto none = with_shown_jobs(text, {.is_shown = [](uint32_t) { return false; }, .find = find});
        if (none && !json_members(*none)) return "what is shown is JSON";
        if (none && text == around && none->find("mallory") != none->npos) return "a job is not shown";
        auto all = with_shown_jobs(text, {.is_shown = [](uint32_t) { return true; }, .find = find});
        if (none.has_value() != all.has_value()) return "the scope does not decide what JSON is";
        if (all && !json_members(*all)) return "what is shown is JSON";
        auto masked = with_masked_users(text, "me");
        if (masked && (!json_members(*masked) || with_masked_users(*masked, "me") != masked))
            return "what is masked stays as it is";
    }
    return nullptr;
}

// Lines about nodes, reservations and the configuration, to which the test adds the name of another user.
inline const char* broken_for_masks(std::string_view bytes) {
    for (std::string_view line : base::split(bytes, '\n')) {
        std::string text(line);
        for (auto mask : {masked_node, masked_reservation}) {
            std::string once = mask(text, "me");
            if (mask(once, "me") != once) return "what is masked stays as it is";
        }
        if (masked_node(text + " Owner=mallory(1001) x", "me").find("Owner=mallory") != text.npos)
            return "an owner is masked";
        if (masked_reservation(text + " Users=me,mallory x", "me").find("Users=me,mallory") != text.npos)
            return "users are masked";
        if (std::string shown = masked_configuration(text); !shown.empty() && shown != text)
            return "a line of the configuration is shown or not";
    }
    if (const char* claim = broken_for_json(bytes)) return claim;
    std::string once = one_line_each(bytes);
    auto none = [](uint32_t) { return std::optional<Record>(); };
    (void)with_wanted_paths(bytes, none, "/usr/bin/agent-sandbox");
    return once.size() <= bytes.size() + 16 ? nullptr : "a text on one line is no longer than before";
}

}  // namespace slurm::queries
