// SPDX-License-Identifier: MIT
// scancel: acts on the user's jobs in scope, whatever the scope for viewing is. Its command line always has
// ids: the requested ones, or, with a selection alone, all that the session may act on. The real scancel then
// narrows them by the same selection.
#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "slurm/queries/handlers.h"
#include "slurm/queries/request.h"

namespace slurm::queries {
namespace {

const std::initializer_list<std::string_view> kSelections = {
    "account", "me", "name", "nodelist", "partition", "qos", "reservation", "state", "user", "wckey"};

constexpr std::string_view kUnknownJob = "Invalid job id specified";

OrEnding<std::vector<JobId>> read_ids(const QueryRequest& request) {
    std::vector<JobId> ids;
    for (const std::string& word : request.parsed.words) {
        base::Result<std::vector<JobId>> list = parse_job_ids(word);
        if (!list || list->empty()) {
            return request.usage_error(
                base::format("scancel: error: Invalid job id {}\n", base::printable(word)));
        }
        ids.insert(ids.end(), list->begin(), list->end());
    }
    return ids;
}

// A job that ended after our query was not named by the user, so its absence is not an error.
void forget_ended(Captured& said) {
    std::string kept;
    for (std::string_view line : base::split(said.errors, '\n')) {
        if (line.empty() || line.find(kUnknownJob) != line.npos) continue;
        kept.append(line).append("\n");
    }
    if (kept.empty() && !said.errors.empty()) said.ending = {};
    said.errors = std::move(kept);
}

// Whether the user has the job, but the session may not touch it.
bool is_out_of_scope(const JobSet& jobs, const JobId& id) {
    return !jobs.rows_of(id.job).empty() && !jobs.contains(id);
}

// The answer that an own job does not exist would mislead its user.
Ending tell_out_of_scope(const QueryRequest& request, const std::vector<JobId>& ids) {
    std::vector<std::string> texts;
    for (const JobId& id : ids) texts.push_back(text_of(id));
    bool is_session = request.context.scope == Scope::session;
    return request.deny(code::not_in_scope,
                        base::format("your job {} is not one of this {}, so it was not touched (slurm.scope)",
                                     base::join(texts, ", "), is_session ? "session" : "project"),
                        "cancel it outside the jail");
}

// Outside, Slurm signals the process group of the script. In a jail the group of the batch step has the
// processes of the jail itself, which pass the signal to the script alone. SIGKILL ends the jail as a whole.
void tell_of_full(const QueryRequest& request) {
    const std::optional<std::string> signal = request.parsed.value_of("signal");
    bool is_kill = !signal || signal->empty() || *signal == "9" ||
                   base::equals_ignoring_case(*signal, "KILL") ||
                   base::equals_ignoring_case(*signal, "SIGKILL");
    if (is_kill || !request.parsed.has("full")) return;
    request.conversation.err(
        "scancel: --full: the signal reaches the script of a job that runs in a jail, not its children and "
        "steps; scancel --signal JOB.STEP signals a step\n");
}

}  // namespace

Ending handle_scancel(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    if (request.parsed.has("interactive")) {
        return request.deny(code::command, "--interactive: nothing is asked back", "name the jobs");
    }
    OrEnding<std::vector<JobId>> asked = read_ids(request);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    auto& ids = std::get<std::vector<JobId>>(asked);

    Arguments arguments = request.passed();
    const size_t before = arguments.size();
    request.add_given(arguments, kSelections);
    const bool has_selection = arguments.size() > before;
    // scancel reports that it got no job.
    if (ids.empty() && !has_selection) return request.relay(arguments);

    OrEnding<JobSet> asked_jobs = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&asked_jobs)) return *ending;
    const auto& jobs = std::get<JobSet>(asked_jobs);
    std::vector<JobId> others;
    std::ranges::copy_if(ids, std::back_inserter(others),
                         [&](const JobId& id) { return is_out_of_scope(jobs, id); });
    const bool names_jobs = !ids.empty();
    std::erase_if(ids, [&](const JobId& id) { return is_out_of_scope(jobs, id); });
    if (names_jobs && ids.empty()) return tell_out_of_scope(request, others);

    tell_of_full(request);
    Disguise disguise(jobs);
    arguments.emplace_back("--");
    if (!names_jobs) {
        std::vector<uint32_t> numbers = jobs.numbers(false);
        if (numbers.empty()) return {};
        for (uint32_t number : numbers) arguments.push_back(std::to_string(number));
    }
    for (const JobId& id : ids) arguments.push_back(disguise.text_of(id));

    OrEnding<Captured> captured = request.capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = disguise.restored(std::move(said.output));
    said.errors = disguise.restored(std::move(said.errors));
    if (!names_jobs) forget_ended(said);
    const Ending ending = request.answer(said);
    return others.empty() ? ending : tell_out_of_scope(request, others);
}

}  // namespace slurm::queries
