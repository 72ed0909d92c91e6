// SPDX-License-Identifier: MIT
// Properties of ids, comments and answers made from any bytes. The unit tests check them with the seeds and
// with damaged seeds, the fuzzer with its mutations of the seeds.
#pragma once

#include <string>
#include <string_view>

#include "slurm/scope/identity.h"
#include "slurm/scope/rows.h"

namespace slurm {

inline const char* broken_for_ids(std::string_view text) {
    constexpr std::string_view kLetters = "0123456789_[]-,:%+.abcdefghijklmnopqrstuvwxyz";
    auto ids = parse_job_ids(text);
    if (!ids) {
        return ids.error().line().find('\n') == std::string::npos ? nullptr : "a message spans lines";
    }
    if (ids->size() > kMaximumIds) return "a list has no end";
    std::string canonical;
    for (const JobId& id : *ids) {
        if (id.job == 0) return "no job has the number 0";
        if (!canonical.empty()) canonical += ',';
        canonical += text_of(id);
    }
    if (canonical.find_first_not_of(kLetters) != std::string::npos) return "an id holds what none may";
    auto again = parse_job_ids(canonical);
    if (!again || *again != *ids) return "the canonical text of ids is not stable";
    return nullptr;
}

inline Tag example_tag() {
    return {.session = "0123456789abcdef0123456789abcdef", .project = "fedcba9876543210fedcba9876543210"};
}

inline const char* broken_for_tag(std::string_view text) {
    Tag tag = example_tag();
    if (auto tagged = append_tag(text, tag)) {
        if (tagged->size() > kMaximumComment) return "a comment is longer than Slurm takes";
        if (!tagged->starts_with(text)) return "the user's part is not verbatim at the front";
        SplitComment split = split_comment(*tagged);
        if (split.user_part != text) return "the user's part does not come back";
        if (split.tag != tag) return "another tag than the one appended counts";
    }
    SplitComment split = split_comment(text);
    if (split.tag) {
        if (!is_tag_part(split.tag->session) || !is_tag_part(split.tag->project))
            return "a tag has odd parts";
        // A blank before a tag without a user's part belongs to neither, and this project never writes one.
        std::string_view written = split.user_part.empty() && text.starts_with(' ') ? text.substr(1) : text;
        if (text.size() <= kMaximumComment && *append_tag(split.user_part, *split.tag) != written) {
            return "a split comment is not the whole";
        }
    } else if (split.user_part != text) {
        return "a comment without a tag is changed";
    }
    std::string shown = without_tags(text);
    if (shown.size() > text.size()) return "taking tags out adds text";
    if (split.tag && shown.ends_with(text_of(*split.tag)) &&
        !split.user_part.ends_with(text_of(*split.tag))) {
        return "a tag is shown";
    }
    return nullptr;
}

// The text is used as an answer that a hostile user forged, and as a comment between two honest records.
inline const char* broken_for_rows(std::string_view text) {
    const std::string nonce = "n00112233445566778899aabbccddeeff";
    for (const JobRow& row : read_rows(text, nonce)) {
        if (row.job == 0 || row.leader == 0) return "a row has no number";
    }
    if (text.find(nonce) != std::string_view::npos) return nullptr;
    auto record = [&](std::string_view id, std::string_view comment) {
        std::string line = nonce;
        for (std::string_view field : {id, id, id, std::string_view("RUNNING"), comment})
            line.append(field).append(nonce);
        return line + "\n";
    };
    auto rows = read_rows(record("7", "first") + record("8", text) + record("9", "last"), nonce);
    if (rows.size() != 3) return "a comment changes the number of rows";
    if (rows[0].job != 7 || rows[1].job != 8 || rows[2].job != 9) return "a comment changes an id";
    if (rows[0].tag || rows[2].tag) return "a comment tags another job";
    return nullptr;
}

}  // namespace slurm
