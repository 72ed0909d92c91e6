// SPDX-License-Identifier: MIT
// scancel: acts on the user's jobs in scope, whatever the scope for viewing is. Its command line always has
// ids: the requested ones, or, with a selection alone, all that the session may act on. The real scancel then
// narrows them by the same selection.
#include <algorithm>

#include "base/format.h"
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
    const auto& ids = std::get<std::vector<JobId>>(asked);

    Arguments arguments = request.passed();
    const size_t before = arguments.size();
    request.add_given(arguments, kSelections);
    const bool has_selection = arguments.size() > before;
    // scancel reports that it got no job.
    if (ids.empty() && !has_selection) return request.relay(arguments);

    OrEnding<JobSet> asked_jobs = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&asked_jobs)) return *ending;
    const auto& jobs = std::get<JobSet>(asked_jobs);
    Disguise disguise(jobs);
    arguments.emplace_back("--");
    if (ids.empty()) {
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
    if (ids.empty()) forget_ended(said);
    return request.answer(said);
}

}  // namespace slurm::queries
