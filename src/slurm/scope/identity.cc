// SPDX-License-Identifier: MIT
#include "slurm/scope/identity.h"

#include <algorithm>

#include "base/encoding/sha256.h"
#include "base/parse.h"
#include "base/text.h"

namespace slurm {
namespace {

using base::Error;
using base::Result;

// Larger values have special meanings in Slurm ("none", "all").
constexpr uint32_t kIdLimit = 0xfffffff0;
constexpr std::string_view kNamedSteps[] = {"batch", "extern", "interactive"};

// Removes the digits at the front of `rest` and returns the number.
std::optional<uint32_t> take_number(std::string_view& rest) {
    size_t length = std::ranges::find_if_not(rest, base::is_digit) - rest.begin();
    std::optional<uint32_t> number = number_below(rest.substr(0, length), kIdLimit);
    if (number) rest.remove_prefix(length);
    return number;
}

bool take(std::string_view& rest, char letter) {
    if (rest.empty() || rest.front() != letter) return false;
    rest.remove_prefix(1);
    return true;
}

// "1-3", "1-7:2" or "5".
std::optional<std::string> take_range(std::string_view& rest) {
    std::optional<uint32_t> first = take_number(rest);
    if (!first) return {};
    std::string text = std::to_string(*first);
    if (!take(rest, '-')) return text;
    std::optional<uint32_t> last = take_number(rest);
    if (!last || *last < *first) return {};
    text += "-" + std::to_string(*last);
    if (!take(rest, ':')) return text;
    std::optional<uint32_t> stride = take_number(rest);
    if (!stride || *stride == 0) return {};
    return base::format("{}:{}", text, *stride);
}

// After "[": ranges, a limit of concurrent tasks, "]".
std::optional<std::string> take_ranges(std::string_view& rest) {
    std::string text = "[";
    do {
        std::optional<std::string> range = take_range(rest);
        if (!range) return {};
        if (text.size() > 1) text += ',';
        text += *range;
    } while (take(rest, ','));
    if (take(rest, '%')) {
        std::optional<uint32_t> limit = take_number(rest);
        if (!limit) return {};
        text += "%" + std::to_string(*limit);
    }
    if (!take(rest, ']')) return {};
    return text + "]";
}

std::optional<std::string> take_tasks(std::string_view& rest) {
    if (take(rest, '[')) return take_ranges(rest);
    std::optional<uint32_t> task = take_number(rest);
    return task ? std::optional(std::to_string(*task)) : std::nullopt;
}

std::optional<std::string> read_step(std::string_view text) {
    if (std::ranges::find(kNamedSteps, text) != std::end(kNamedSteps)) return std::string(text);
    std::optional<uint32_t> number = number_below(text, kIdLimit);
    return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

std::optional<JobId> read_job_id(std::string_view rest) {
    std::optional<uint32_t> job = take_number(rest);
    if (!job || *job == 0) return {};
    JobId id{.job = *job};
    if (take(rest, '_')) {
        id.tasks = take_tasks(rest);
        if (!id.tasks) return {};
    } else if (take(rest, '+')) {
        id.component = take_number(rest);
        if (!id.component) return {};
    }
    if (take(rest, '.')) {
        id.step = read_step(rest);
        return id.step ? std::optional(id) : std::nullopt;
    }
    return rest.empty() ? std::optional(id) : std::nullopt;
}

Error not_an_id(std::string_view text) {
    return Error{.what = base::format("'{}' is not a job id", base::printable(text.substr(0, 64)))};
}

// The length of the first id in `list`: up to a comma outside of brackets.
size_t id_length(std::string_view list) {
    bool is_within_brackets = false;
    for (size_t at = 0; at < list.size(); ++at) {
        if (list[at] == '[') is_within_brackets = true;
        if (list[at] == ']') is_within_brackets = false;
        if (list[at] == ',' && !is_within_brackets) return at;
    }
    return list.size();
}

}  // namespace

std::optional<uint32_t> number_below(std::string_view digits, uint32_t limit) {
    const std::optional<uint32_t> number = base::parse_number<uint32_t>(digits);
    return number && *number < limit ? number : std::nullopt;
}

Result<JobId> parse_job_id(std::string_view text) {
    std::optional<JobId> id = text.size() > kMaximumIdText ? std::nullopt : read_job_id(text);
    if (!id) return not_an_id(text);
    return *id;
}

Result<std::vector<JobId>> parse_job_ids(std::string_view list) {
    std::vector<JobId> ids;
    while (!list.empty()) {
        size_t length = id_length(list);
        std::string_view text = list.substr(0, length);
        list.remove_prefix(std::min(length + 1, list.size()));
        if (text.empty()) continue;
        Result<JobId> id = parse_job_id(text);
        if (!id) return id.error();
        if (ids.size() == kMaximumIds) {
            return Error{.what = base::format("more than {} job ids in one list", kMaximumIds)};
        }
        ids.push_back(*std::move(id));
    }
    return ids;
}

std::string text_of(const JobId& id) {
    std::string text = std::to_string(id.job);
    if (id.tasks) text += "_" + *id.tasks;
    if (id.component) text += "+" + std::to_string(*id.component);
    if (id.step) text += "." + *id.step;
    return text;
}

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
