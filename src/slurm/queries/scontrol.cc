// SPDX-License-Identifier: MIT
// scontrol: verbs by table. The real scontrol gets the full name of an allowed verb, so that an abbreviation
// cannot mean another one there.
#include "slurm/queries/scontrol.h"

#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/handlers.h"

namespace slurm::queries {
namespace {

enum class Act {
    plain,      // unchanged, without further words
    jobs,       // a list of jobs in scope
    first_job,  // a job in scope, then words of the agent's own
    show,
    update,
    refuse,
};

struct Verb {
    std::string_view name;
    Act act;
    std::string_view code;
    std::string_view reason;
};

constexpr Verb kVerbs[] = {
    {"abort", Act::refuse, code::administration, kAdministration},
    {"cancel_reboot", Act::refuse, code::administration, kAdministration},
    {"cluster", Act::refuse, code::other_cluster, "other clusters do not know this jail"},
    {"completing", Act::refuse, code::other_users, "lists everybody's jobs; use squeue --states=CG"},
    {"create", Act::refuse, code::administration, kAdministration},
    {"delete", Act::refuse, code::administration, kAdministration},
    {"fsdampeningfactor", Act::refuse, code::administration, kAdministration},
    {"help", Act::plain, {}, {}},
    {"hold", Act::jobs, {}, {}},
    {"listpids", Act::refuse, code::command, "processes outside the jail are not shown"},
    {"notify", Act::first_job, {}, {}},
    {"pidinfo", Act::refuse, code::command, "processes outside the jail are not shown"},
    {"ping", Act::plain, {}, {}},
    {"power", Act::refuse, code::administration, kAdministration},
    {"reboot", Act::refuse, code::administration, kAdministration},
    {"reboot_nodes", Act::refuse, code::administration, kAdministration},
    {"reconfigure", Act::refuse, code::administration, kAdministration},
    {"release", Act::jobs, {}, {}},
    {"requeue", Act::jobs, {}, {}},
    {"requeuehold", Act::jobs, {}, {}},
    {"resume", Act::jobs, {}, {}},
    {"schedloglevel", Act::refuse, code::administration, kAdministration},
    {"setdebug", Act::refuse, code::administration, kAdministration},
    {"setdebugflags", Act::refuse, code::administration, kAdministration},
    {"show", Act::show, {}, {}},
    {"shutdown", Act::refuse, code::administration, kAdministration},
    {"suspend", Act::jobs, {}, {}},
    {"takeover", Act::refuse, code::administration, kAdministration},
    {"token", Act::refuse, code::identity, "a token speaks for you outside the jail"},
    {"top", Act::jobs, {}, {}},
    {"uhold", Act::jobs, {}, {}},
    {"update", Act::update, {}, {}},
    {"version", Act::plain, {}, {}},
    {"wait_job", Act::first_job, {}, {}},
    {"write", Act::refuse, code::outside_file, "Slurm has the script of the jail's entry, not the job's own"},
};

// Words that may precede the ids of a verb.
constexpr std::string_view kModes[] = {"Incomplete", "State=SpecialExit"};
constexpr std::string_view kIdKeys[] = {"jobid=", "job="};

const std::string_view* mode_of(std::string_view word) {
    for (const std::string_view& mode : kModes) {
        if (base::equals_ignoring_case(mode, word)) return &mode;
    }
    return nullptr;
}

std::string_view without_key(std::string_view word) {
    for (std::string_view key : kIdKeys) {
        if (base::starts_ignoring_case(word, key)) return word.substr(key.size());
    }
    return word;
}

Ending no_such_id(const QueryRequest& request, std::string_view word) {
    // scontrol also accepts job names, but it searches all jobs, not only those in scope.
    return request.deny(code::value, base::format("'{}' is not a job id", base::printable(word)),
                        "name jobs by their ids");
}

Ending act_on_jobs(const QueryRequest& request, const Verb& verb, Words words) {
    std::vector<std::string> said = {std::string(verb.name)};
    if (words.empty()) return run_scontrol(request, said);
    OrEnding<JobSet> jobs = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&jobs)) return *ending;
    Disguise disguise(std::get<JobSet>(jobs));
    for (const std::string& word : words) {
        if (const std::string_view* mode = mode_of(word)) {
            said.emplace_back(*mode);
            continue;
        }
        base::Result<std::vector<JobId>> ids = parse_job_ids(without_key(word));
        if (!ids || ids->empty()) return no_such_id(request, word);
        said.push_back(disguise.text_of(*ids));
    }
    return run_disguised(request, said, disguise);
}

Ending act_on_first(const QueryRequest& request, const Verb& verb, Words words) {
    std::vector<std::string> said = {std::string(verb.name)};
    if (words.empty()) return run_scontrol(request, said);
    base::Result<JobId> id = parse_job_id(without_key(words.front()));
    if (!id) return no_such_id(request, words.front());
    OrEnding<JobSet> jobs = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&jobs)) return *ending;
    Disguise disguise(std::get<JobSet>(jobs));
    said.push_back(disguise.text_of(*id));
    said.insert(said.end(), words.begin() + 1, words.end());
    return run_disguised(request, said, disguise);
}

bool is_shown_as_json(Words words) {
    const Verb* verb = words.empty() ? nullptr : find_by_beginning(std::span<const Verb>(kVerbs), words[0]);
    return verb != nullptr && verb->act == Act::show && words.size() > 1;
}

Ending dispatch(const QueryRequest& request, const Verb& verb, Words words) {
    switch (verb.act) {
        case Act::plain:
            return run_scontrol(request, {std::string(verb.name)});
        case Act::jobs:
            return act_on_jobs(request, verb, words);
        case Act::first_job:
            return act_on_first(request, verb, words);
        case Act::show:
            return scontrol_show(request, words);
        case Act::update:
            return scontrol_update(request, words);
        case Act::refuse:
            break;
    }
    return request.deny(verb.code, base::format("{}: {}", verb.name, verb.reason));
}

}  // namespace

Arguments scontrol_arguments(const QueryRequest& request, const std::vector<std::string>& words) {
    Arguments arguments = request.passed();
    request.add_given(arguments, {"json"});
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), words.begin(), words.end());
    return arguments;
}

Ending run_scontrol(const QueryRequest& request, const std::vector<std::string>& words) {
    return request.relay(scontrol_arguments(request, words));
}

Ending run_disguised(const QueryRequest& request, const std::vector<std::string>& words,
                     const Disguise& disguise) {
    OrEnding<Captured> captured = request.capture(scontrol_arguments(request, words));
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = disguise.restored(std::move(said.output));
    said.errors = disguise.restored(std::move(said.errors));
    return request.answer(said);
}

Ending handle_scontrol(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    if (request.parsed.has("sibling")) {
        return request.deny(code::other_cluster, "--sibling: other clusters do not know this jail");
    }
    if (request.parsed.has("json") && !is_shown_as_json(request.parsed.words)) {
        return request.deny(code::other_users, "--json: only records of show are printed in this form");
    }
    if (request.parsed.words.empty()) {
        return request.deny(code::command, "nothing is asked back", "give the command as arguments");
    }
    Words words = request.parsed.words;
    const Verb* verb = find_by_beginning(std::span<const Verb>(kVerbs), words.front());
    if (!verb) {
        return request.usage_error(base::format("invalid keyword: {}\n", base::printable(words.front())));
    }
    return dispatch(request, *verb, words.subspan(1));
}

}  // namespace slurm::queries
