// SPDX-License-Identifier: MIT
#include "slurm/queries/accounting_rows.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/request.h"

namespace slurm::queries {
namespace {

constexpr std::string_view kCommentField = "comment";
constexpr std::string_view kAll = "ALL";
// A comment has at most 1024 bytes.
constexpr size_t kWide = 1100;

std::optional<JobRow> read_row(std::string_view job, std::string_view comment, std::string_view shown) {
    auto own = parse_job_id(job), id = parse_job_id(shown);
    if (!own || !id) return {};
    JobRow row{.job = own->job, .leader = id->job, .is_over = true};
    SplitComment split = split_comment(comment);
    row.comment = std::move(split.user_part);
    row.tag = std::move(split.tag);
    return row;
}

// sacct accepts a prefix of a field's name. A single letter is another field.
bool is_comment(std::string_view name) {
    return name.size() > 1 && base::starts_ignoring_case(kCommentField, name);
}

// Like C's strtol: a sign, digits, and any text after them.
CommentColumn read_width(std::string_view text) {
    CommentColumn column{.width = 0, .is_left = text.starts_with('-')};
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    text = text.substr(0, text.find_first_not_of("0123456789"));
    column.width = number_below(text, 100'000).value_or(0);
    return column;
}

std::string narrow(std::string_view text, const CommentColumn& column) {
    std::string shown(text);
    if (shown.size() > column.width) {
        shown.resize(column.width);
        if (!shown.empty()) shown.back() = '+';
    }
    shown.insert(column.is_left ? shown.size() : 0, column.width - shown.size(), ' ');
    return shown;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
}

}  // namespace

std::vector<std::string> accounting_question(uint32_t uid, std::string_view nonce) {
    return {"--noheader",
            "--parsable2",
            "--allocations",
            "--delimiter=" + std::string(nonce),
            "--user=" + std::to_string(uid),
            "--format=jobidraw,comment,jobid"};
}

// JOB nonce COMMENT nonce ID "\n": neither a job's number nor its id contains a line break.
std::vector<JobRow> read_accounting_rows(std::string_view answer, std::string_view nonce) {
    std::vector<JobRow> rows;
    while (!answer.empty()) {
        size_t first = answer.find(nonce);
        if (first == answer.npos) return rows;
        size_t second = answer.find(nonce, first + nonce.size());
        if (second == answer.npos) return rows;
        std::string_view comment = answer.substr(first + nonce.size(), second - first - nonce.size());
        size_t id = second + nonce.size(), end = answer.find('\n', id);
        if (end == answer.npos) return rows;
        std::optional<JobRow> row = read_row(answer.substr(0, first), comment, answer.substr(id, end - id));
        if (!row) return rows;
        rows.push_back(*std::move(row));
        answer.remove_prefix(end + 1);
    }
    return rows;
}

bool names_all_fields(std::string_view format) {
    return std::ranges::any_of(base::split(format, ','), [](std::string_view field) {
        return base::equals_ignoring_case(base::trim(field), kAll);
    });
}

std::string with_fields(std::string_view format, std::string_view fields) {
    std::vector<std::string> all, names;
    for (std::string_view line : base::split(fields, '\n')) {
        for (std::string_view name : base::split(line, ' ')) {
            if (!name.empty()) names.emplace_back(name);
        }
    }
    for (std::string_view field : base::split(format, ',')) {
        bool is_all = base::equals_ignoring_case(base::trim(field), kAll);
        all.push_back(is_all ? base::join(names, ",") : std::string(field));
    }
    return base::join(all, ",");
}

std::optional<CommentColumn> widen_comments(std::string& format) {
    std::optional<CommentColumn> column;
    std::vector<std::string> fields;
    for (std::string_view field : base::split(format, ',')) {
        std::string_view name = field.substr(0, field.find('%'));
        if (!is_comment(base::trim(name))) {
            fields.emplace_back(field);
            continue;
        }
        if (!column) column.emplace();
        fields.push_back(base::format("{}%-{}", kCommentField, kWide));
        if (name.size() == field.size()) continue;
        // The last width applies to all: sacct treats them as one column.
        column = read_width(field.substr(name.size() + 1));
    }
    format = base::join(fields, ",");
    return column;
}

std::string with_narrow_comments(std::string text, const CommentColumn& column,
                                 const std::vector<JobRow>& rows) {
    struct Shown {
        std::string wide, narrow;
    };
    auto shown = [&](std::string whole, std::string_view user_part) {
        whole.resize(std::max(whole.size(), kWide), ' ');
        return Shown{std::move(whole), narrow(user_part, column)};
    };
    // sacct truncates a heading without a '+'.
    std::vector<Shown> all = {shown("Comment", std::string_view("Comment").substr(0, column.width))};
    for (const JobRow& row : rows) {
        base::Result<std::string> whole = row.tag ? append_tag(row.comment, *row.tag) : row.comment;
        if (whole && !whole->empty()) all.push_back(shown(*whole, row.comment));
    }
    // Sort the longer texts first: a shorter one may be the end of a longer one.
    std::ranges::sort(all, {}, [](const Shown& one) { return std::ranges::count(one.wide, ' '); });
    for (const Shown& one : all) replace_all(text, one.wide, one.narrow);
    replace_all(text, std::string(kWide, '-'), std::string(column.width, '-'));
    replace_all(text, std::string(kWide, ' '), std::string(column.width, ' '));
    return text;
}

}  // namespace slurm::queries
