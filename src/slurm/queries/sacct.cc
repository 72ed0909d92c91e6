// SPDX-License-Identifier: MIT
// sacct: the user's own jobs. With the scope session or project, those whose comment has that tag. The
// accounting has comments only if the site stores them, and only after a job has ended. So jobs that
// slurmctld still has are taken from there, and older ones without a comment are not shown.
#include <algorithm>
#include <ctime>

#include "base/format.h"
#include "base/text.h"
#include "slurm/queries/accounting_rows.h"
#include "slurm/queries/handlers.h"
#include "slurm/queries/request.h"

namespace slurm::queries {
namespace {

// Threat: with --json and --yaml sacct (22.05) shows the jobs of all users and ignores --user. It obeys a
// list of jobs (others_test: Sacct.NamesJobsWhereUsersAreIgnored).
bool must_name_jobs(const QueryRequest& request) {
    Scope scope = request.context.scope;
    return scope == Scope::project || scope == Scope::session || request.parsed.has("json") ||
           request.parsed.has("yaml");
}

// sacct's default start if no job is named. We name jobs, which would change the default to 1970.
std::string default_start(const QueryRequest& request) {
    if (request.parsed.has("state")) return "now";
    std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT00:00:00", &local);
    return text;
}

// The options that select jobs: the same for the query and for the answer.
struct Window {
    std::optional<std::vector<JobId>> jobs;
    std::string start;  // empty: it was given, or sacct's default applies
};

OrEnding<Window> read_window(const QueryRequest& request) {
    Window window;
    for (const ParsedOption& given : request.parsed.options) {
        if (given.option->name != "jobs" || !given.value) continue;
        base::Result<std::vector<JobId>> ids = parse_job_ids(*given.value);
        if (!ids) {
            return request.usage_error(
                base::format("sacct: fatal: Bad job/step specified: {}\n", base::printable(*given.value)));
        }
        if (!window.jobs) window.jobs.emplace();
        window.jobs->insert(window.jobs->end(), ids->begin(), ids->end());
    }
    if (!window.jobs && !request.parsed.has("starttime")) window.start = default_start(request);
    return window;
}

std::string plain_list(const std::vector<JobId>& ids) {
    std::vector<std::string> texts;
    // The whole job of a task, because all comments of an array are needed.
    for (const JobId& id : ids) texts.push_back(std::to_string(id.job));
    return base::join(texts, ",");
}

OrEnding<std::vector<JobRow>> ask_accounting(const QueryRequest& request, const Window& window) {
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return request.deny(code::unavailable, nonce.error().line());
    Arguments arguments = accounting_question(request.context.uid, *nonce);
    request.add_given(arguments, {"starttime", "endtime", "state"});
    if (!window.start.empty()) arguments.push_back("--starttime=" + window.start);
    if (window.jobs) arguments.push_back("--jobs=" + plain_list(*window.jobs));
    OrEnding<Captured> captured = request.capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    const auto& said = std::get<Captured>(captured);
    if (said.ending.status != 0) return request.answer({.errors = said.errors, .ending = said.ending});
    return read_accounting_rows(said.output, *nonce);
}

// Rows of slurmctld, and rows of the accounting for jobs that slurmctld no longer has.
OrEnding<JobSet> with_accounting(const QueryRequest& request, const std::vector<JobRow>& accounting) {
    OrEnding<JobSet> asked = ask_jobs(request);
    if (std::holds_alternative<Ending>(asked)) return asked;
    auto& jobs = std::get<JobSet>(asked);
    std::vector<JobRow> older;
    std::ranges::copy_if(accounting, std::back_inserter(older), [&](const JobRow& row) {
        return std::ranges::none_of(jobs.rows(), [&](const JobRow& known) { return known.job == row.job; });
    });
    return jobs.joined_with(std::move(older));
}

std::optional<Ending> refuse_others(const QueryRequest& request) {
    if (request.parsed.has("allusers")) {
        return request.deny(code::other_users, "--allusers: only your own jobs are shown");
    }
    auto users = request.parsed.value_of("user");
    if (!users || is_own_user(request.context, *users)) return {};
    return request.deny(code::other_users, "--user: only your own jobs are shown");
}

// sacct joins several formats into one.
std::string whole_format(const QueryRequest& request) {
    std::vector<std::string> parts;
    for (const ParsedOption& given : request.parsed.options) {
        if (given.option->name == "format" && given.value) parts.push_back(*given.value);
    }
    return base::join(parts, ",");
}

bool is_table(const QueryRequest& request) {
    for (std::string_view other : {"parsable", "parsable2", "json", "yaml"}) {
        if (request.parsed.has(other)) return false;
    }
    return true;
}

// The jobs of the answer that are in scope. Names only jobs that the query found, not others from slurmctld:
// a named job is shown even if sacct would not list it.
std::string listed(const std::vector<JobRow>& rows, const JobSet& jobs) {
    std::vector<uint32_t> numbers;
    for (const JobRow& row : rows) {
        if (jobs.contains(row.job)) numbers.push_back(row.job);
    }
    return list_of(numbers);
}

// A table has columns of fixed width, so its comments are formatted again.
Ending show_table(const QueryRequest& request, Arguments arguments, const Window& window,
                  const std::vector<JobRow>* rows) {
    std::string format = whole_format(request);
    if (is_table(request) && names_all_fields(format)) {
        OrEnding<Captured> fields = request.capture({"--helpformat"});
        if (auto* ending = std::get_if<Ending>(&fields)) return *ending;
        format = with_fields(format, std::get<Captured>(fields).output);
    }
    std::optional<CommentColumn> column = widen_comments(format);
    if (!column || !is_table(request)) {
        request.add_given(arguments, {"format"});
        return request.relay(arguments, [](std::string_view line) { return without_tags(line); });
    }
    OrEnding<std::vector<JobRow>> asked =
        rows ? OrEnding<std::vector<JobRow>>(*rows) : ask_accounting(request, window);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    arguments.push_back("--format=" + format);
    OrEnding<Captured> captured = request.capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = with_narrow_comments(std::move(said.output), *column, std::get<std::vector<JobRow>>(asked));
    return request.answer(said);
}

}  // namespace

Ending handle_sacct(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    if (auto ending = refuse_others(request)) return *ending;
    OrEnding<Window> windowed = read_window(request);
    if (auto* ending = std::get_if<Ending>(&windowed)) return *ending;
    const auto& window = std::get<Window>(windowed);

    Arguments arguments = request.passed({"format"});
    arguments.push_back("--user=" + std::to_string(context.uid));
    if (!request.parsed.words.empty()) {
        // sacct accepts no words and reports this before it queries anything.
        return request.relay({"--", request.parsed.words.front()});
    }
    if (request.parsed.has("helpformat")) return request.relay({"--helpformat"});
    if (!must_name_jobs(request)) {
        if (window.jobs) {
            std::vector<std::string> ids;
            for (const JobId& id : *window.jobs) ids.push_back(text_of(id));
            arguments.push_back("--jobs=" + base::join(ids, ","));
        }
        return show_table(request, std::move(arguments), window, nullptr);
    }
    OrEnding<std::vector<JobRow>> asked = ask_accounting(request, window);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    const auto& rows = std::get<std::vector<JobRow>>(asked);
    OrEnding<JobSet> joined = with_accounting(request, rows);
    if (auto* ending = std::get_if<Ending>(&joined)) return *ending;
    const auto& jobs = std::get<JobSet>(joined);
    Disguise disguise(jobs);
    arguments.push_back("--jobs=" + (window.jobs && !window.jobs->empty() ? disguise.text_of(*window.jobs)
                                                                          : listed(rows, jobs)));
    if (!window.start.empty()) arguments.push_back("--starttime=" + window.start);
    if (arguments.back().size() > kLongestList || arguments.end()[-2].size() > kLongestList) {
        return request.deny(code::too_large, "more jobs than fit into one call",
                            "choose a later --starttime");
    }
    return show_table(request, std::move(arguments), window, &rows);
}

}  // namespace slurm::queries
