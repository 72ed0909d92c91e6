// SPDX-License-Identifier: MIT
// scontrol show: entities by table. Jobs and steps are queried one id at a time, because a text with the jobs
// of all users cannot be split safely: a comment may look like the head of another job.
#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/json_answers.h"
#include "slurm/queries/redact.h"
#include "slurm/queries/scontrol.h"

namespace slurm::queries {
namespace {

enum class Show { plain, hosts, nodes, reservations, configuration, jobs, steps, refuse };

struct Entity {
    std::string_view name;
    Show show;
    std::string_view code;
    std::string_view reason;
};

constexpr Entity kEntities[] = {
    {"aliases", Show::plain, {}, {}},
    {"assoc_mgr", Show::refuse, code::other_users, kNamesOthers},
    {"bbstat", Show::refuse, code::other_users, kNamesOthers},
    {"burstbuffer", Show::refuse, code::other_users, kNamesOthers},
    {"config", Show::configuration, {}, {}},
    {"daemons", Show::plain, {}, {}},
    {"dwstat", Show::refuse, code::other_users, kNamesOthers},
    {"federation", Show::plain, {}, {}},
    {"frontend", Show::nodes, {}, {}},
    {"hostlist", Show::hosts, {}, {}},
    {"hostlistsorted", Show::hosts, {}, {}},
    {"hostnames", Show::hosts, {}, {}},
    {"job", Show::jobs, {}, {}},
    {"jobid", Show::jobs, {}, {}},
    {"jobs", Show::jobs, {}, {}},
    {"licenses", Show::plain, {}, {}},
    {"nodes", Show::nodes, {}, {}},
    {"partitions", Show::plain, {}, {}},
    {"powercap", Show::plain, {}, {}},
    {"reservations", Show::reservations, {}, {}},
    {"slurmd", Show::plain, {}, {}},
    {"step", Show::steps, {}, {}},
    {"stepid", Show::steps, {}, {}},
    {"steps", Show::steps, {}, {}},
    {"topology", Show::plain, {}, {}},
};

constexpr std::string_view kNoJobs = "No jobs in the system\n";
constexpr std::string_view kNoSteps = "No job steps in the system\n";

// scontrol uses the nodes of the job in which it runs. That variable is in the agent's environment, not in
// ours.
std::vector<std::string> nodes_of_agent(const QueryRequest& request) {
    constexpr std::string_view kVariable = "SLURM_JOB_NODELIST=";
    for (const std::string& entry : request.call.environment) {
        if (entry.starts_with(kVariable)) return {entry.substr(kVariable.size())};
    }
    return {};
}

bool asks_for_one_line(const QueryRequest& request) {
    return request.parsed.has("oneliner");
}

// Many lines per job: they are joined after they were parsed.
Arguments arguments_for_jobs(const QueryRequest& request, const std::string& entity, const std::string& id) {
    Arguments arguments = request.passed({"oneliner"});
    request.add_given(arguments, {"json"});
    arguments.insert(arguments.end(), {"--", "show", entity});
    if (!id.empty()) arguments.push_back(id);
    return arguments;
}

std::string adjusted_jobs(const QueryRequest& request, const JobSet& jobs, std::string_view text) {
    auto find = [&](uint32_t job) { return record_in_scope(request.context, jobs, job); };
    std::string adjusted = with_wanted_paths(text, find, request.context.program);
    return asks_for_one_line(request) ? one_line_each(adjusted) : adjusted;
}

std::string adjusted_steps(const QueryRequest& request, const JobSet&, std::string_view text) {
    return asks_for_one_line(request) ? one_line_each(text) : std::string(text);
}

// Jobs and steps are shown in the same way.
struct Manner {
    std::string_view entity;
    std::string_view none;
    std::string (*adjust)(const QueryRequest&, const JobSet&, std::string_view text);
};
constexpr Manner kJobs = {"job", kNoJobs, adjusted_jobs};
constexpr Manner kSteps = {"step", kNoSteps, adjusted_steps};

Ending show_one(const QueryRequest& request, const JobSet& jobs, const Manner& manner,
                const std::string& word) {
    base::Result<JobId> id = parse_job_id(word);
    if (!id) {
        return request.usage_error(
            base::format("scontrol_print_{} error: Invalid job id specified\n", manner.entity));
    }
    Disguise disguise(jobs);
    std::string shown = request.context.scope == Scope::none ? text_of(*id) : disguise.text_of(*id);
    OrEnding<Captured> captured =
        request.capture(arguments_for_jobs(request, std::string(manner.entity), shown));
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = disguise.restored(manner.adjust(request, jobs, said.output));
    said.errors = disguise.restored(std::move(said.errors));
    return request.answer(said);
}

Ending show_all(const QueryRequest& request, const JobSet& jobs, const Manner& manner) {
    std::vector<std::string> ids;
    // Without a restriction one query is enough.
    if (request.context.scope == Scope::none) ids.emplace_back();
    bool with_ended = manner.adjust == adjusted_jobs;
    if (ids.empty()) {
        for (uint32_t number : jobs.numbers(with_ended)) ids.push_back(std::to_string(number));
    }
    bool has_any = false;
    for (const std::string& id : ids) {
        OrEnding<Captured> captured =
            request.capture(arguments_for_jobs(request, std::string(manner.entity), id));
        if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
        const auto& said = std::get<Captured>(captured);
        // A job that has ended since, or has no steps.
        if (said.ending.status != 0) continue;
        request.conversation.out(manner.adjust(request, jobs, said.output));
        has_any |= !said.output.empty();
    }
    if (!has_any) request.conversation.out(manner.none);
    return {};
}

Ending show_jobs(const QueryRequest& request, Words words, const Manner& manner) {
    OrEnding<JobSet> asked = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    const auto& jobs = std::get<JobSet>(asked);
    return words.empty() ? show_all(request, jobs, manner) : show_one(request, jobs, manner, words.front());
}

using Mask = std::string (*)(std::string_view line, std::string_view own);

Ending show_masked(const QueryRequest& request, const std::vector<std::string>& said, Mask mask) {
    const std::string& own = request.context.user;
    return request.relay(scontrol_arguments(request, said),
                         [mask, &own](std::string_view line) { return mask(line, own); });
}

// scontrol has --json from 22.11.
Ending show_jobs_as_json(const QueryRequest& request, Words words) {
    OrEnding<JobSet> asked = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    const auto& jobs = std::get<JobSet>(asked);
    bool shows_all = request.context.scope == Scope::none;
    Disguise disguise(jobs);
    std::string id;
    if (!words.empty()) {
        base::Result<JobId> parsed = parse_job_id(words.front());
        if (!parsed) return request.usage_error("scontrol_print_job error: Invalid job id specified\n");
        id = shows_all ? text_of(*parsed) : disguise.text_of(*parsed);
    }
    Arguments arguments = arguments_for_jobs(request, "job", id);
    JobsOfJson shown{.is_shown = [&](uint32_t job) { return shows_all || jobs.contains(job); },
                     .find = [&](uint32_t job) { return record_in_scope(request.context, jobs, job); },
                     .program = request.context.program};
    return request.answer_json(arguments,
                               [&](std::string_view document) { return with_shown_jobs(document, shown); });
}

Ending show_as_json(const QueryRequest& request, const Entity& entity, Words words) {
    switch (entity.show) {
        case Show::jobs:
            return show_jobs_as_json(request, words);
        case Show::nodes:
        case Show::reservations:
        case Show::plain: {
            std::vector<std::string> said = {"show", std::string(entity.name)};
            said.insert(said.end(), words.begin(), words.end());
            return request.answer_json(scontrol_arguments(request, said), [&](std::string_view document) {
                return with_masked_users(document, request.context.user);
            });
        }
        case Show::hosts:
        case Show::configuration:
        case Show::steps:
        case Show::refuse:
            break;
    }
    return request.deny(code::other_users,
                        base::format("show {} --json: it may name users who are not concerned", entity.name),
                        "leave out --json");
}

Ending show(const QueryRequest& request, const Entity& entity, Words words) {
    if (request.parsed.has("json")) return show_as_json(request, entity, words);
    std::vector<std::string> said = {"show", std::string(entity.name)};
    said.insert(said.end(), words.begin(), words.end());
    switch (entity.show) {
        case Show::plain:
            return run_scontrol(request, said);
        case Show::hosts:
            for (const std::string& word : words) {
                if (word.find('/') == word.npos) continue;
                return request.deny(code::outside_file,
                                    base::format("'{}' would be read as a file", base::printable(word)));
            }
            return run_scontrol(request, said);
        case Show::nodes:
            return show_masked(request, said, masked_node);
        case Show::reservations:
            return show_masked(request, said, masked_reservation);
        case Show::configuration:
            return show_masked(request, said, [](std::string_view line, std::string_view) {
                return masked_configuration(line);
            });
        case Show::jobs:
            return show_jobs(request, words, kJobs);
        case Show::steps:
            return show_jobs(request, words, kSteps);
        case Show::refuse:
            break;
    }
    return request.deny(entity.code, base::format("show {}: {}", entity.name, entity.reason));
}

}  // namespace

Ending scontrol_show(const QueryRequest& request, Words words) {
    if (words.empty()) return run_scontrol(request, {"show"});
    // "show job=17" and "show job 17" are the same.
    std::string name = words.front().substr(0, words.front().find('='));
    std::vector<std::string> rest(words.begin() + 1, words.end());
    if (name.size() < words.front().size()) rest.insert(rest.begin(), words.front().substr(name.size() + 1));
    if (rest.size() > 1) return request.usage_error("too many arguments for keyword:show\n");
    if (rest.empty() && base::equals_ignoring_case(name, "hostnames")) rest = nodes_of_agent(request);
    const Entity* entity = find_by_beginning(std::span<const Entity>(kEntities), name);
    if (!entity) {
        return request.usage_error(
            base::format("invalid entity:{} for keyword:show \n", base::printable(name)));
    }
    return show(request, *entity, rest);
}

}  // namespace slurm::queries
