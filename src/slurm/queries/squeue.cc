// SPDX-License-Identifier: MIT
// squeue: the real one, with the user's own options, given the list of jobs that the session may know of. Its
// filters narrow a list of ids, so the user's selection and ours combine in Slurm itself.
#include "slurm/queries/handlers.h"
#include "slurm/queries/marked_columns.h"
#include "slurm/queries/request.h"
#include "slurm/scope/tag.h"

namespace slurm::queries {
namespace {

constexpr std::string_view kCommentNames[] = {"comment"};
constexpr std::string_view kNoComment = "(null)";

std::string shown_comment(std::string_view comment) {
    SplitComment split = split_comment(comment);
    return split.tag && split.user_part.empty() ? std::string(kNoComment) : split.user_part;
}

Ending bad_id(const Request& request, std::string_view list) {
    return request.usage_error("squeue: error: Invalid job id: " + std::string(list) + "\n");
}

// --jobs and --steps as they were asked for, by ids that the session may know of.
struct Selection {
    std::optional<std::vector<JobId>> jobs, steps;
    bool has_steps = false;
};

OrEnding<Selection> read_selection(Request& request) {
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
        // An empty list is a list of none to squeue.
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

// The format with comments between marks, where it has any.
OrEnding<std::optional<MarkedFormat>> mark_comments(const Request& request) {
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return request.deny(code::unavailable, nonce.error().line());
    if (auto format = request.parsed.value_of("format")) return mark_letters(*format, "k", *nonce);
    if (auto format = request.parsed.value_of("Format")) return mark_names(*format, kCommentNames, *nonce);
    return std::optional<MarkedFormat>();
}

Ending show_with_comments(const Request& request, Arguments arguments, const MarkedFormat& format) {
    arguments.push_back((format.is_long ? "--Format=" : "--format=") + format.format);
    OrEnding<Captured> captured = request.capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = without_tags(unmarked(said.output, format, shown_comment));
    return request.answer(said);
}

}  // namespace

Ending handle_squeue(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<Request> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    auto& request = std::get<Request>(read);
    if (request.parsed.has("iterate")) {
        return request.deny(code::command, "--iterate: the answer is given once", "call squeue again");
    }
    if (request.parsed.has("sibling")) {
        return request.deny(code::other_cluster, "--sibling: other clusters do not know this jail");
    }
    OrEnding<Selection> selected = read_selection(request);
    if (auto* ending = std::get_if<Ending>(&selected)) return *ending;
    auto& selection = std::get<Selection>(selected);
    // squeue ends with its usage before it asks anything.
    if (!request.parsed.words.empty()) return request.relay({"--", request.parsed.words.front()});

    bool has_two_formats = request.parsed.has("format") && request.parsed.has("Format");
    OrEnding<std::optional<MarkedFormat>> marked = mark_comments(request);
    if (auto* ending = std::get_if<Ending>(&marked)) return *ending;
    auto& format = std::get<std::optional<MarkedFormat>>(marked);
    // squeue refuses two formats, and says which came first.
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
