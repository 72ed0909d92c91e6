// SPDX-License-Identifier: MIT
#include "slurm/queries/job_text.h"

#include "base/text.h"
#include "slurm/scope/ids.h"
#include "slurm/scope/tag.h"

namespace slurm::queries {
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

}  // namespace slurm::queries
