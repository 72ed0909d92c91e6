// SPDX-License-Identifier: MIT
// sstat, sprio and sshare: only about the user's own jobs and shares, with any options.
#include "base/format.h"
#include "base/text.h"
#include "slurm/queries/handlers.h"
#include "slurm/queries/request.h"

namespace slurm::queries {
namespace {

Ending refuse_others(const QueryRequest& request, std::string_view option) {
    return request.deny(code::other_users, std::string(option) + ": only your own jobs are shown");
}

OrEnding<std::vector<JobId>> read_lists(const QueryRequest& request, const std::vector<std::string>& lists) {
    std::vector<JobId> ids;
    for (const std::string& list : lists) {
        base::Result<std::vector<JobId>> parsed = parse_job_ids(list);
        if (!parsed) {
            return request.usage_error(base::format("{}: fatal: Bad job/step specified: {}\n",
                                                    request.command.name, base::printable(list)));
        }
        ids.insert(ids.end(), parsed->begin(), parsed->end());
    }
    return ids;
}

Ending answer_disguised(const QueryRequest& request, const Arguments& arguments, const Disguise& disguise) {
    OrEnding<Captured> captured = request.capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = disguise.restored(std::move(said.output));
    said.errors = disguise.restored(std::move(said.errors));
    return request.answer(said);
}

}  // namespace

// sstat combines the ids of every -j and of the words after them.
Ending handle_sstat(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    std::vector<std::string> lists;
    for (const ParsedOption& given : request.parsed.options) {
        if (given.option->name == "jobs" && given.value) lists.push_back(*given.value);
    }
    lists.insert(lists.end(), request.parsed.words.begin(), request.parsed.words.end());
    Arguments arguments = request.passed();
    // sstat reports the missing job, or prints the names of its columns.
    if (lists.empty()) return request.relay(arguments);

    OrEnding<std::vector<JobId>> ids = read_lists(request, lists);
    if (auto* ending = std::get_if<Ending>(&ids)) return *ending;
    OrEnding<JobSet> jobs = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&jobs)) return *ending;
    Disguise disguise(std::get<JobSet>(jobs));
    arguments.push_back("--jobs=" + disguise.text_of(std::get<std::vector<JobId>>(ids)));
    return answer_disguised(request, arguments, disguise);
}

// Always pass job ids: without them sprio shows the jobs of all users.
Ending handle_sprio(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    auto& request = std::get<QueryRequest>(read);
    if (request.parsed.has("sibling")) {
        return request.deny(code::other_cluster, "--sibling: other clusters do not know this jail");
    }
    if (auto users = request.parsed.value_of("users"); users && !is_own_user(context, *users)) {
        return refuse_others(request, "--user");
    }
    std::optional<std::string> list = request.list_or_word("jobs");
    if (!request.parsed.words.empty()) return request.relay({"--", request.parsed.words.front()});
    Arguments arguments = request.passed();
    request.add_given(arguments, {"users"});
    // The weights belong to the cluster. sprio shows no job with them.
    if (request.parsed.has("weights")) return request.relay(arguments);

    OrEnding<std::vector<JobId>> ids =
        read_lists(request, list ? std::vector{*list} : std::vector<std::string>());
    if (auto* ending = std::get_if<Ending>(&ids)) return *ending;
    OrEnding<JobSet> asked = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    const auto& jobs = std::get<JobSet>(asked);
    Disguise disguise(jobs);
    std::string text = disguise.text_of(std::get<std::vector<JobId>>(ids));
    arguments.push_back("--jobs=" + (text.empty() ? list_of(jobs.numbers(false)) : text));
    if (arguments.back().size() > kLongestList) {
        return request.deny(code::too_large, "more jobs than fit into one call", "name some with --jobs");
    }
    return answer_disguised(request, arguments, disguise);
}

Ending handle_sshare(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    if (request.parsed.has("all")) return refuse_others(request, "--all");
    if (auto users = request.parsed.value_of("users"); users && !is_own_user(context, *users)) {
        return refuse_others(request, "--users");
    }
    Arguments arguments = request.passed();
    arguments.push_back("--users=" + context.user);
    if (!request.parsed.words.empty())
        arguments.insert(arguments.end(), {"--", request.parsed.words.front()});
    return request.relay(arguments);
}

}  // namespace slurm::queries
