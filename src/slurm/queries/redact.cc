// SPDX-License-Identifier: MIT
#include "slurm/queries/redact.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/request.h"
#include "slurm/scope/identity.h"

namespace slurm::queries {
namespace {

// Headings and values that may be in place of a name.
constexpr std::string_view kNoNames[] = {"", "USER", "Unknown", "N/A", "(null)", "None"};

constexpr std::string_view kSecretKeys[] = {
    "AuthInfo",          "AuthAltParameters",
    "AuthAltTypes",      "JobCredentialPrivateKey",
    "StorageParameters", "JobCredentialPublicCertificate",
};
constexpr std::string_view kSecretEndings[] = {"Pass", "Password", "Key", "Token"};
// The only key with such an ending whose value is a yes or no.
constexpr std::string_view kTrackKeys = "TrackWCKey";

// Masks the users after each "key=", whatever precedes it: hide too much rather than too little.
std::string with_masked_value(std::string_view line, std::string_view key, std::string_view own) {
    std::string text(line);
    for (size_t at = 0; (at = text.find(key, at)) != text.npos; at += key.size()) {
        size_t begin = at + key.size();
        size_t end = std::min(text.find_first_of(" \n", begin), text.size());
        text.replace(begin, end - begin, masked_users(text.substr(begin, end - begin), own));
    }
    return text;
}

// "ann" and "ann(1000)". A narrow column may truncate the number at any digit.
bool is_own(std::string_view shown, std::string_view own) {
    if (!shown.starts_with(own)) return false;
    shown.remove_prefix(own.size());
    if (shown.ends_with(')')) shown.remove_suffix(1);
    return shown.empty() || (shown.front() == '(' && shown.find_first_not_of("0123456789", 1) == shown.npos);
}

}  // namespace

std::string masked_user(std::string_view shown, std::string_view own) {
    bool is_shown = std::ranges::find(kNoNames, shown) != std::end(kNoNames) || is_own(shown, own);
    return std::string(is_shown ? shown : kSomebody);
}

std::string masked_users(std::string_view list, std::string_view own) {
    std::vector<std::string> names;
    for (std::string_view name : base::split(list, ',')) {
        std::string shown = masked_user(name, own);
        if (std::ranges::find(names, shown) == names.end()) names.push_back(shown);
    }
    return base::join(names, ",");
}

std::string masked_node(std::string_view line, std::string_view own) {
    std::string text = with_masked_value(line, "Owner=", own);
    // "name@time". A reason may contain brackets of its own.
    for (size_t at = 0; (at = text.find(" [", at)) != text.npos; at += 2) {
        size_t begin = at + 2, sign = text.find_first_of("@ \n]", begin);
        if (sign == text.npos || text[sign] != '@') continue;
        text.replace(begin, sign - begin, masked_user(text.substr(begin, sign - begin), own));
    }
    return text;
}

std::string masked_reservation(std::string_view line, std::string_view own) {
    return with_masked_value(line, "Users=", own);
}

std::string masked_configuration(std::string_view line) {
    std::string_view key = base::trim(line.substr(0, line.find('=')));
    if (key == kTrackKeys) return std::string(line);
    bool is_secret =
        std::ranges::find(kSecretKeys, key) != std::end(kSecretKeys) ||
        std::ranges::any_of(kSecretEndings, [&](std::string_view end) { return key.ends_with(end); });
    return is_secret ? std::string() : std::string(line);
}

namespace {

constexpr std::string_view kHead = "JobId=";
constexpr std::string_view kIndent = "   ";
constexpr std::string_view kCommentLine = "   Comment=";
constexpr std::string_view kCommand = "   Command=";
// Keys of a head that give the number of a record, the nearest first.
constexpr std::string_view kNumbers[] = {"JobId=", "ArrayJobId=", "HetJobId="};

struct ReplacedLine {
    std::string_view key;
    std::string Record::*value;
};
constexpr ReplacedLine kReplacedLines[] = {
    {kCommand, &Record::command},  {"   WorkDir=", &Record::directory}, {"   StdErr=", &Record::error},
    {"   StdIn=", &Record::input}, {"   StdOut=", &Record::output},
};

std::optional<Record> record_of(std::string_view head, const FindRecord& find) {
    for (std::string_view key : kNumbers) {
        for (std::string_view word : base::split(head, ' ')) {
            if (!word.starts_with(key)) continue;
            base::Result<JobId> id = parse_job_id(word.substr(key.size()));
            if (!id) continue;
            if (std::optional<Record> record = find(id->job)) return record;
        }
    }
    return {};
}

// A record has the pattern in place of the task's number. Slurm shows this number for an array whose tasks
// wait.
constexpr std::string_view kTaskPattern = "%a";
constexpr std::string_view kNoTask = "4294967294";
constexpr std::string_view kTask = "ArrayTaskId=";

std::string_view task_in(std::string_view head) {
    for (std::string_view word : base::split(head, ' ')) {
        if (word.starts_with(kTask) && number_below(word.substr(kTask.size()), UINT32_MAX))
            return word.substr(kTask.size());
    }
    return kNoTask;
}

std::string with_task(std::string path, std::string_view task) {
    for (size_t at = 0; (at = path.find(kTaskPattern, at)) != path.npos; at += task.size())
        path.replace(at, kTaskPattern.size(), task);
    return path;
}

const ReplacedLine* replaced_line(std::string_view line) {
    for (const ReplacedLine& replaced : kReplacedLines) {
        if (line.starts_with(replaced.key)) return &replaced;
    }
    return nullptr;
}

// For a job without a comment, Slurm prints no such line.
bool is_empty_comment(std::string_view line) {
    return line.starts_with(kCommentLine) && base::trim(line.substr(kCommentLine.size())).empty();
}

}  // namespace

std::string with_wanted_paths(std::string_view text, const FindRecord& find, std::string_view program) {
    std::string result;
    std::optional<Record> record;
    std::string_view task;
    while (!text.empty()) {
        size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        std::string_view line_break = end == text.npos ? "" : "\n";
        text.remove_prefix(line.size() + line_break.size());
        if (line.starts_with(kHead)) {
            record = record_of(line, find);
            task = task_in(line);
        }
        const ReplacedLine* replaced = record ? replaced_line(line) : nullptr;
        std::string shown = without_tags(line);
        if (shown.size() != line.size() && is_empty_comment(shown)) continue;
        if (replaced && !((*record).*replaced->value).empty()) {
            shown = std::string(replaced->key) + with_task((*record).*replaced->value, task);
        } else if (!record && !program.empty() && line == std::string(kCommand) + std::string(program)) {
            shown = std::string(kCommand) + "(null)";
        }
        result.append(shown).append(line_break);
    }
    return result;
}

std::string one_line_each(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        size_t end = std::min(text.find('\n'), text.size());
        result += text.substr(0, end);
        text.remove_prefix(end);
        if (text.empty()) break;
        text.remove_prefix(1);
        if (text.starts_with(kIndent)) {
            result += ' ';
            text.remove_prefix(kIndent.size());
        } else if (text.starts_with('\n')) {
            // The blank line between two jobs.
            text.remove_prefix(1);
            result += '\n';
        } else {
            result += '\n';
        }
    }
    return result;
}

namespace {

// -O truncates at a width, so request a wide column. A comment has at most 1024 bytes.
constexpr std::string_view kWholeWidth = "1100";
// -O's default width of a column.
constexpr size_t kDefaultWidth = 20;

// Removes "[.][digits]" from the front.
Column take_width(std::string_view& rest) {
    Column column;
    if (rest.starts_with('.')) {
        column.is_right = true;
        rest.remove_prefix(1);
    }
    size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (auto width = number_below(rest.substr(0, length), 100'000); width && *width) column.width = *width;
    rest.remove_prefix(length);
    return column;
}

std::string laid_out(std::string value, const Column& column) {
    if (column.width) {
        value.resize(std::min(value.size(), *column.width));
        value.insert(column.is_right ? 0 : value.size(), *column.width - value.size(), ' ');
    }
    return value + column.suffix;
}

std::optional<std::string_view> take_to_mark(std::string_view& rest, std::string_view mark) {
    size_t at = rest.find(mark);
    if (at == rest.npos) return {};
    std::string_view taken = rest.substr(0, at);
    rest.remove_prefix(at + mark.size());
    return taken;
}

std::string_view without_padding(std::string_view value) {
    return value.substr(0, value.find_last_not_of(' ') + 1);
}

std::string unmarked_pairs(std::string_view rest, const MarkedFormat& format, const ShowValue& show) {
    std::string output;
    for (size_t count = 0;; ++count) {
        std::optional<std::string_view> before = take_to_mark(rest, format.mark);
        if (!before) break;
        output += *before;
        std::optional<std::string_view> value = take_to_mark(rest, format.mark);
        if (!value) return output;
        output += laid_out(show(*value), format.columns[count % format.columns.size()]);
    }
    return output.append(rest);
}

std::string unmarked_fields(std::string_view rest, const MarkedFormat& format, const ShowValue& show) {
    std::string output;
    while (true) {
        for (const Column& column : format.columns) {
            std::optional<std::string_view> value = take_to_mark(rest, format.mark);
            if (!value) return output.append(rest);
            if (column.is_marked && value->starts_with('\n')) value->remove_prefix(1), output += '\n';
            output +=
                column.is_marked ? laid_out(show(without_padding(*value)), column) : std::string(*value);
        }
    }
}

}  // namespace

std::optional<MarkedFormat> mark_letters(std::string_view format, std::string_view letters,
                                         std::string_view mark) {
    MarkedFormat marked{.mark = std::string(mark)};
    while (!format.empty()) {
        size_t at = std::min(format.find('%'), format.size());
        marked.format += format.substr(0, at);
        format.remove_prefix(at);
        if (format.empty()) break;
        std::string_view rest = format.substr(1);
        Column column = take_width(rest);
        if (!rest.empty() && letters.find(rest.front()) != letters.npos) {
            marked.format.append(mark).append("%").append(1, rest.front()).append(mark);
            marked.columns.push_back(column);
            rest.remove_prefix(1);
        } else {
            marked.format += format.substr(0, format.size() - rest.size());
        }
        format = rest;
    }
    return marked.columns.empty() ? std::nullopt : std::optional(marked);
}

std::optional<MarkedFormat> mark_names(std::string_view format, std::span<const std::string_view> names,
                                       std::string_view mark) {
    MarkedFormat marked{.mark = std::string(mark), .is_long = true};
    bool has_marked = false;
    for (std::string_view field : base::split(format, ',')) {
        size_t colon = field.find(':');
        std::string_view name = field.substr(0, colon);
        std::string_view rest = colon == field.npos ? std::string_view() : field.substr(colon + 1);
        Column column = take_width(rest);
        if (colon == field.npos) column.width = kDefaultWidth;
        column.suffix = rest;
        column.is_marked = std::ranges::any_of(
            names, [&](std::string_view wanted) { return base::equals_ignoring_case(name, wanted); });
        has_marked |= column.is_marked;
        if (!marked.format.empty()) marked.format += ',';
        if (column.is_marked) {
            marked.format.append(name).append(":").append(kWholeWidth);
        } else {
            marked.format.append(field);
            if (colon == field.npos) marked.format += ":" + std::to_string(kDefaultWidth);
        }
        marked.format += mark;
        marked.columns.push_back(column);
    }
    return has_marked ? std::optional(marked) : std::nullopt;
}

std::string unmarked(std::string_view output, const MarkedFormat& format, const ShowValue& show) {
    return format.is_long ? unmarked_fields(output, format, show) : unmarked_pairs(output, format, show);
}

}  // namespace slurm::queries
