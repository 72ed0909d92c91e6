// SPDX-License-Identifier: MIT
// sreport and sacctmgr: reports about the cluster as a whole. A table lists the accepted words, and the real
// command gets their full names.
#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/handlers.h"
#include "slurm/queries/redact.h"
#include "slurm/queries/request.h"

namespace slurm::queries {
namespace {

struct Name {
    std::string_view name;
};

struct Refusable {
    std::string_view name;
    std::string_view code;  // empty: allowed
    std::string_view reason;
};

constexpr std::string_view kChanges = "changes of the accounting are the administrator's";

constexpr Refusable kReports[] = {
    {"cluster", {}, {}},
    {"job", code::other_users, "sums up the jobs of others by account"},
    {"reservation", {}, {}},
    {"user", code::other_users, kNamesOthers},
};
// The only report of each kind that contains no users.
constexpr Name kUtilization[] = {{"Utilization"}};
constexpr Name kReportConditions[] = {{"start"}, {"end"}, {"format"}};

constexpr Refusable kReportVerbs[] = {
    {"add", code::administration, kChanges},
    {"archive", code::administration, kChanges},
    {"clear", code::administration, kChanges},
    {"create", code::administration, kChanges},
    {"delete", code::administration, kChanges},
    {"dump", code::administration, "the accounting of all users would be written to a file"},
    {"list", {}, {}},
    {"load", code::administration, kChanges},
    {"modify", code::administration, kChanges},
    {"ping", {}, {}},
    {"reconfigure", code::administration, kChanges},
    {"remove", code::administration, kChanges},
    {"show", {}, {}},
    {"shutdown", code::administration, kChanges},
    {"version", {}, {}},
};
constexpr Refusable kReportEntities[] = {
    {"accounts", code::other_users, kNamesOthers},
    {"associations", code::other_users, kNamesOthers},
    {"clusters", {}, {}},
    {"configuration", {}, {}},
    {"coordinators", code::other_users, kNamesOthers},
    {"events", code::other_users, kNamesOthers},
    {"federations", {}, {}},
    {"problems", code::other_users, kNamesOthers},
    {"qos", {}, {}},
    {"reservations", code::other_users, kNamesOthers},
    {"resources", {}, {}},
    {"runawayjobs", code::administration, "it may change the accounting"},
    {"stats", code::administration, "counts the calls of every user"},
    {"transactions", code::other_users, kNamesOthers},
    {"tres", {}, {}},
    {"users", code::other_users, kNamesOthers},
    {"wckeys", code::other_users, kNamesOthers},
};
constexpr Name kManagerConditions[] = {{"format"}, {"names"}, {"ids"}, {"type"}};
constexpr Name kManagerWords[] = {{"where"}, {"withdeleted"}, {"withfed"}, {"withclusters"}};

Ending refuse(const QueryRequest& request, const Refusable& row) {
    return request.deny(row.code, base::format("{}: {}", row.name, row.reason));
}

// The condition "key=value" with the full key. Nothing if the key is not in the table.
std::optional<std::string> read_condition(std::string_view word, std::span<const Name> keys) {
    size_t equals = word.find('=');
    if (equals == word.npos) return {};
    const Name* key = find_by_beginning(keys, word.substr(0, equals));
    bool is_plain =
        std::ranges::none_of(word, [](char letter) { return static_cast<unsigned char>(letter) < ' '; });
    if (!key || !is_plain) return {};
    return std::string(key->name) + std::string(word.substr(equals));
}

// A name alone is a condition too: "show qos normal".
bool is_name(std::string_view word) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,/-";
    return !base::starts_ignoring_case(word, "with") && word.find_first_not_of(kLetters) == word.npos;
}

// The column of associations in reservations. sreport accepts any prefix of its name.
bool shows_associations(std::string_view condition) {
    for (std::string_view field : base::split(condition.substr(condition.find('=') + 1), ',')) {
        if (base::starts_ignoring_case(base::trim(field), "as")) return true;
    }
    return false;
}

Ending unknown(const QueryRequest& request, std::string_view word) {
    return request.deny(code::unknown_option,
                        base::format("'{}' is not in the table", base::printable(word)));
}

Ending interactive(const QueryRequest& request) {
    return request.deny(code::command, "nothing is asked back", "give the command as arguments");
}

}  // namespace

Ending handle_sreport(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    const std::vector<std::string>& words = request.parsed.words;
    if (words.empty()) return interactive(request);
    const Refusable* report = find_by_beginning(std::span<const Refusable>(kReports), words[0]);
    if (!report) return unknown(request, words[0]);
    if (!report->code.empty()) return refuse(request, *report);
    if (words.size() < 2 || !find_by_beginning(std::span<const Name>(kUtilization), words[1])) {
        return request.deny(code::other_users,
                            std::string(report->name) + ": only Utilization is without users",
                            base::format("sreport {} Utilization", report->name));
    }
    Arguments arguments = request.passed();
    arguments.insert(arguments.end(), {"--", std::string(report->name), "Utilization"});
    for (size_t at = 2; at < words.size(); ++at) {
        std::optional<std::string> condition = read_condition(words[at], kReportConditions);
        if (!condition) return unknown(request, words[at]);
        if (shows_associations(*condition)) {
            return request.deny(code::other_users, "format: associations name users who are not concerned");
        }
        arguments.push_back(*condition);
    }
    return request.relay(arguments);
}

Ending handle_sacctmgr(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    const std::vector<std::string>& words = request.parsed.words;
    if (words.empty()) return interactive(request);
    const Refusable* verb = find_by_beginning(std::span<const Refusable>(kReportVerbs), words[0]);
    if (!verb) return unknown(request, words[0]);
    if (!verb->code.empty()) return refuse(request, *verb);
    Arguments arguments = request.passed();
    arguments.insert(arguments.end(), {"--", std::string(verb->name)});
    if (verb->name != "show" && verb->name != "list") return request.relay(arguments);

    if (words.size() < 2) return request.relay(arguments);
    const Refusable* entity = find_by_beginning(std::span<const Refusable>(kReportEntities), words[1]);
    if (!entity) return unknown(request, words[1]);
    if (!entity->code.empty()) return refuse(request, *entity);
    arguments.emplace_back(entity->name);
    for (size_t at = 2; at < words.size(); ++at) {
        std::optional<std::string> condition = read_condition(words[at], kManagerConditions);
        const Name* word = find_by_beginning(std::span<const Name>(kManagerWords), words[at]);
        if (!condition && !word && !is_name(words[at])) return unknown(request, words[at]);
        arguments.push_back(condition ? *condition : std::string(word ? word->name : words[at]));
    }
    return request.relay(arguments, masked_configuration);
}

// sstat, sprio and sshare: only about the user's own jobs and shares, with any options.

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
