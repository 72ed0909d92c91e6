// SPDX-License-Identifier: MIT
// sacct: the user's own jobs. With the scope session or project, those whose comment has that tag. The
// accounting has comments only if the site stores them, and only after a job has ended. So jobs that
// slurmctld still has are taken from there, and older ones without a comment are not shown.
#include "slurm/queries/sacct.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/handlers.h"
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
