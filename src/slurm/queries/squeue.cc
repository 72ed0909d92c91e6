// SPDX-License-Identifier: MIT
// squeue: runs the real one with the user's own options, in one of two ways.
//
// One call, if the user names no ids: the real squeue selects, sorts and formats the user's jobs. Each row
// begins with our query's fields (slurm/scope/rows.h). Only rows of jobs in scope are passed on, without
// these fields.
//
// Otherwise two calls: squeue gets the list of jobs in scope. Its filters narrow a list of ids, so Slurm
// itself combines the user's selection and ours.
#include <algorithm>
#include <set>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/handlers.h"
#include "slurm/queries/json_answers.h"
#include "slurm/queries/redact.h"
#include "slurm/queries/request.h"
#include "slurm/scope/identity.h"

namespace slurm::queries {
namespace {

constexpr std::string_view kCommentNames[] = {"comment"};
constexpr std::string_view kNoComment = "(null)";

std::string shown_comment(std::string_view comment) {
    SplitComment split = split_comment(comment);
    return split.tag && split.user_part.empty() ? std::string(kNoComment) : split.user_part;
}

Ending bad_id(const QueryRequest& request, std::string_view list) {
    return request.usage_error(base::format("squeue: error: Invalid job id: {}\n", list));
}

// The ids of --jobs and --steps.
struct Selection {
    std::optional<std::vector<JobId>> jobs, steps;
    bool has_steps = false;
};

OrEnding<Selection> read_selection(QueryRequest& request) {
    Selection selection;
    auto read = [&](std::string_view name, std::optional<std::vector<JobId>>& ids) -> std::optional<Ending> {
        std::optional<std::string> list = request.list_or_word(name);
        if (!list) return {};
        base::Result<std::vector<JobId>> parsed = parse_job_ids(*list);
        if (!parsed) return bad_id(request, *list);
        ids = *std::move(parsed);
        return {};
    };
    if (auto ending = read("jobs", selection.jobs)) return *ending;
    if (auto ending = read("steps", selection.steps)) return *ending;
    selection.has_steps = request.parsed.has("steps");
    return selection;
}

void add_selection(Arguments& arguments, const Selection& selection, const JobSet& jobs) {
    Disguise disguise(jobs);
    if (selection.has_steps) {
        arguments.push_back(selection.steps ? "--steps=" + disguise.text_of(*selection.steps) : "--steps");
    }
    if (selection.jobs) {
        // For squeue an empty list selects no job, so pass ids that no job has.
        arguments.push_back("--jobs=" +
                            (selection.jobs->empty() ? list_of({}) : disguise.text_of(*selection.jobs)));
    } else if (!selection.steps) {
        arguments.push_back("--jobs=" + list_of(jobs.numbers()));
    }
}

void add_selection(Arguments& arguments, const Selection& selection) {
    auto list = [](const std::vector<JobId>& ids) {
        std::string text;
        for (const JobId& id : ids) text += (text.empty() ? "" : ",") + text_of(id);
        return text;
    };
    if (selection.has_steps) {
        arguments.push_back(selection.steps ? "--steps=" + list(*selection.steps) : "--steps");
    }
    if (selection.jobs) arguments.push_back("--jobs=" + list(*selection.jobs));
}

// The format with comments between marks, if it has any.
OrEnding<std::optional<MarkedFormat>> mark_comments(const QueryRequest& request) {
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return request.deny(code::unavailable, nonce.error().line());
    if (auto format = request.parsed.value_of("format")) return mark_letters(*format, "k", *nonce);
    if (auto format = request.parsed.value_of("Format")) return mark_names(*format, kCommentNames, *nonce);
    return std::optional<MarkedFormat>();
}

Ending show_with_comments(const QueryRequest& request, Arguments arguments, const MarkedFormat& format) {
    arguments.push_back((format.is_long ? "--Format=" : "--format=") + format.format);
    OrEnding<Captured> captured = request.capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = without_tags(unmarked(said.output, format, shown_comment));
    return request.answer(said);
}

// Options that work with one call. Other options change the subject of the answer, or cannot be combined with
// a format.
constexpr std::string_view kOnceOptions[] = {
    "accounts", "all",         "array", "array-unique", "clusters", "format",   "hide",       "licenses",
    "local",    "me",          "name",  "noconvert",    "nodelist", "noheader", "partitions", "priority",
    "qos",      "reservation", "sort",  "start",        "states",   "users"};

// squeue's default formats.
constexpr std::string_view kOwnFormat = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
constexpr std::string_view kOwnFormatOfStarts = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";

// A longer answer is not buffered; it is queried with two calls.
constexpr size_t kMostKept = 64u << 20;

bool shows_every_field(std::string_view format) {
    for (size_t at = 0; at < format.size(); ++at) {
        if (base::starts_ignoring_case(format.substr(at), "all")) return true;
    }
    return false;
}

// The format for one call. Nothing if two calls are needed.
std::optional<std::string> format_for_once(const QueryRequest& request) {
    bool fits = std::ranges::all_of(request.parsed.options, [](const ParsedOption& given) {
        return std::ranges::find(kOnceOptions, given.option->name) != std::end(kOnceOptions);
    });
    // The single call covers only the user's own jobs.
    std::optional<std::string> users = request.parsed.value_of("users");
    if (!fits || (users && !is_own_user(request.context, *users))) return {};
    if (auto format = request.parsed.value_of("format")) {
        if (format->empty() || shows_every_field(*format)) return {};
        return format;
    }
    return std::string(request.parsed.has("start") ? kOwnFormatOfStarts : kOwnFormat);
}

std::string rows_in_scope(std::string_view answer, std::string_view nonce, JobSet::Bounds bounds) {
    ShownRows shown = read_shown_rows(answer, nonce);
    std::vector<JobRow> rows;
    for (const ShownRow& row : shown.rows) {
        if (row.job) rows.push_back(*row.job);
    }
    // The same numbers as with two calls: an array by its own number if all of it is in scope.
    std::vector<uint32_t> numbers = JobSet(std::move(rows), std::move(bounds)).numbers();
    std::set<uint32_t> known(numbers.begin(), numbers.end());
    std::string text = std::move(shown.before);
    for (const ShownRow& row : shown.rows) {
        if (!row.job || known.contains(row.job->job) || known.contains(row.job->leader)) {
            text += without_tags(row.text);
        }
    }
    return text;
}

// Nothing: the answer is too long for one call.
std::optional<Ending> show_in_one_call(const QueryRequest& request, std::string_view format) {
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return request.deny(code::unavailable, nonce.error().line());
    Arguments arguments = request.passed({"format"});
    arguments.push_back("--users=" + std::to_string(request.context.uid));
    arguments.push_back("--format=" + format_with_question(format, *nonce));
    std::string answer;
    bool is_too_long = false;
    Ending ending = request.relay(arguments, [&](std::string_view line) {
        is_too_long |= answer.size() + line.size() > kMostKept;
        if (!is_too_long) answer += line;
        return std::string();
    });
    if (is_too_long) return {};
    std::string text = rows_in_scope(answer, *nonce, bounds_of(request.context));
    if (!text.empty()) request.conversation.out(text);
    return ending;
}

// The selection is applied here, because squeue (22.05) ignores it with --json.
Ending show_json(const QueryRequest& request, Arguments arguments, const Selection& selection) {
    OrEnding<JobSet> asked = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    const auto& jobs = std::get<JobSet>(asked);
    request.add_given(arguments, {"json"});
    auto is_wanted = [&](uint32_t job) {
        if (!selection.jobs) return true;
        std::vector<const JobRow*> rows = jobs.rows_of(job);
        return std::ranges::any_of(*selection.jobs, [&](const JobId& id) {
            return id.job == job || std::ranges::any_of(rows, [&](const JobRow* row) {
                       return row->job == job && row->leader == id.job;
                   });
        });
    };
    bool shows_all = request.context.scope == Scope::none;
    JobsOfJson shown{
        .is_shown = [&](uint32_t job) { return is_wanted(job) && (shows_all || jobs.contains(job)); },
        .find = [&](uint32_t job) { return record_in_scope(request.context, jobs, job); },
        .program = request.context.program};
    return request.answer_json(arguments,
                               [&](std::string_view document) { return with_shown_jobs(document, shown); });
}

}  // namespace

Ending handle_squeue(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    auto& request = std::get<QueryRequest>(read);
    if (request.parsed.has("iterate")) {
        return request.deny(code::command, "--iterate: the answer is given once", "call squeue again");
    }
    if (request.parsed.has("sibling")) {
        return request.deny(code::other_cluster, "--sibling: other clusters do not know this jail");
    }
    OrEnding<Selection> selected = read_selection(request);
    if (auto* ending = std::get_if<Ending>(&selected)) return *ending;
    auto& selection = std::get<Selection>(selected);
    // squeue exits with its usage message before it queries anything.
    if (!request.parsed.words.empty()) return request.relay({"--", request.parsed.words.front()});

    if (request.parsed.has("json")) return show_json(request, request.passed(), selection);

    bool has_two_formats = request.parsed.has("format") && request.parsed.has("Format");
    OrEnding<std::optional<MarkedFormat>> marked = mark_comments(request);
    if (auto* ending = std::get_if<Ending>(&marked)) return *ending;
    auto& format = std::get<std::optional<MarkedFormat>>(marked);
    if (auto wanted = format_for_once(request); wanted && !format && context.scope != Scope::none) {
        if (auto ending = show_in_one_call(request, *wanted)) return *ending;
    }
    // squeue refuses two formats and reports which came first.
    bool is_marked = format && !has_two_formats;
    Arguments arguments = is_marked ? request.passed({"format", "Format"}) : request.passed();
    request.add_given(arguments, {"me", "users"});

    if (context.scope == Scope::none) {
        add_selection(arguments, selection);
    } else {
        OrEnding<JobSet> jobs = ask_jobs(request);
        if (auto* ending = std::get_if<Ending>(&jobs)) return *ending;
        add_selection(arguments, selection, std::get<JobSet>(jobs));
        if (arguments.back().size() > kLongestList) {
            return request.deny(code::too_large, "more jobs than fit into one call", "name some with --jobs");
        }
    }
    if (is_marked) return show_with_comments(request, std::move(arguments), *format);
    return request.relay(arguments, [](std::string_view line) { return without_tags(line); });
}

}  // namespace slurm::queries
