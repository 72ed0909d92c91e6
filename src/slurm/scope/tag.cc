// SPDX-License-Identifier: MIT
#include "slurm/scope/tag.h"

#include <algorithm>

#include "base/encoding/sha256.h"
#include "base/format.h"

namespace slurm {
namespace {

constexpr std::string_view kMarker = "agent-sandbox:1:";
constexpr char kBetween = ':';
constexpr char kBefore = ' ';
constexpr size_t kPartLength = 32;
constexpr size_t kTagLength = kMarker.size() + kPartLength + 1 + kPartLength;

// Parses `text` as exactly one tag.
std::optional<Tag> read_tag(std::string_view text) {
    if (text.size() != kTagLength || !text.starts_with(kMarker)) return {};
    text.remove_prefix(kMarker.size());
    std::string_view session = text.substr(0, kPartLength), project = text.substr(kPartLength + 1);
    if (text[kPartLength] != kBetween || !is_tag_part(session) || !is_tag_part(project)) return {};
    return Tag{.session = std::string(session), .project = std::string(project)};
}

std::string taken_out_once(std::string_view text) {
    std::string rest;
    while (true) {
        size_t at = text.find(kMarker);
        rest += text.substr(0, at);
        if (at == text.npos) return rest;
        text.remove_prefix(at);
        if (!read_tag(text.substr(0, kTagLength))) {
            rest += kMarker;
            text.remove_prefix(kMarker.size());
            continue;
        }
        if (rest.ends_with(kBefore)) rest.pop_back();
        text.remove_prefix(kTagLength);
    }
}

}  // namespace

bool is_tag_part(std::string_view text) {
    return text.size() == kPartLength && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string project_part(const base::Path& project) {
    return base::sha256(project.str()).substr(0, kPartLength);
}

Tag make_tag(std::string_view session, const base::Path& project) {
    return {.session = std::string(session), .project = project_part(project)};
}

std::string text_of(const Tag& tag) {
    return std::string(kMarker) + tag.session + kBetween + tag.project;
}

base::Result<std::string> append_tag(std::string_view comment, const Tag& tag) {
    std::string whole(comment);
    if (!whole.empty()) whole += kBefore;
    whole += text_of(tag);
    if (whole.size() > kMaximumComment) {
        return base::Error{.what = base::format("the comment has {} bytes", comment.size()),
                           .advice = base::format("at most {} are left beside the tag of the session",
                                                  kMaximumComment - kTagLength - 1)};
    }
    return whole;
}

SplitComment split_comment(std::string_view comment) {
    SplitComment whole{.user_part = std::string(comment)};
    if (comment.size() < kTagLength) return whole;
    std::string_view before = comment.substr(0, comment.size() - kTagLength);
    if (!before.empty() && before.back() != kBefore) return whole;
    std::optional<Tag> tag = read_tag(comment.substr(before.size()));
    if (!tag) return whole;
    if (!before.empty()) before.remove_suffix(1);
    return {.user_part = std::string(before), .tag = std::move(tag)};
}

std::string without_tags(std::string_view text) {
    std::string shown(text);
    // The text around a removed tag may form another tag. The text becomes shorter each time, so this ends.
    for (size_t before = shown.size() + 1; shown.size() < before;) {
        before = shown.size();
        shown = taken_out_once(shown);
    }
    return shown;
}

}  // namespace slurm
