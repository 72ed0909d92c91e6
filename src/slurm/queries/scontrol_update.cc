// SPDX-License-Identifier: MIT
// scontrol update: for jobs in scope, by a table of the keys that may be changed. Slurm gets the full names
// of the keys and JobId first, because the first key that names an entity decides what is updated.
#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/scontrol.h"
#include "slurm/scope/identity.h"

namespace slurm::queries {
namespace {

enum class Change { pass, nodes, job_name, comment, id, refuse };

struct Key {
    std::string_view name;
    Change change;
    std::string_view code;
    std::string_view reason;
};

constexpr std::string_view kFile = "Slurm would open the file outside the jail";

constexpr Key kKeys[] = {
    {"Account", Change::pass, {}, {}},
    {"AdminComment", Change::refuse, code::administration, kAdministration},
    {"ArrayTaskThrottle", Change::pass, {}, {}},
    {"BurstBuffer", Change::refuse, code::outside_file, "a burst buffer stages files outside the jail"},
    {"ClusterFeatures", Change::refuse, code::other_cluster, "other clusters do not know this jail"},
    {"Clusters", Change::refuse, code::other_cluster, "other clusters do not know this jail"},
    {"Comment", Change::comment, {}, {}},
    {"Contiguous", Change::pass, {}, {}},
    {"CoreSpec", Change::pass, {}, {}},
    {"CPUsPerTask", Change::pass, {}, {}},
    {"Deadline", Change::pass, {}, {}},
    {"DelayBoot", Change::pass, {}, {}},
    {"Dependency", Change::pass, {}, {}},
    {"EligibleTime", Change::pass, {}, {}},
    {"EndTime", Change::pass, {}, {}},
    {"ExcNodeList", Change::nodes, {}, {}},
    {"Features", Change::pass, {}, {}},
    {"FrontendName", Change::refuse, code::administration, kAdministration},
    {"Gres", Change::pass, {}, {}},
    {"JobId", Change::id, {}, {}},
    {"Job", Change::id, {}, {}},
    {"JobName", Change::job_name, {}, {}},
    {"Licenses", Change::pass, {}, {}},
    {"MailType", Change::refuse, code::mail, "mail is settled when a job is submitted"},
    {"MailUser", Change::refuse, code::mail, "mail is settled when a job is submitted"},
    {"MinCPUsNode", Change::pass, {}, {}},
    {"MinMemoryCPU", Change::pass, {}, {}},
    {"MinMemoryNode", Change::pass, {}, {}},
    {"MinTmpDiskNode", Change::pass, {}, {}},
    {"Name", Change::job_name, {}, {}},
    {"Network", Change::refuse, code::network, "the interconnect is not the agent's to configure"},
    {"Nice", Change::pass, {}, {}},
    {"NodeList", Change::nodes, {}, {}},
    {"NodeName", Change::refuse, code::administration, kAdministration},
    {"NumCPUs", Change::pass, {}, {}},
    {"NumNodes", Change::pass, {}, {}},
    {"NumTasks", Change::pass, {}, {}},
    {"OverSubscribe", Change::pass, {}, {}},
    {"Partition", Change::pass, {}, {}},
    {"PartitionName", Change::refuse, code::administration, kAdministration},
    {"Prefer", Change::pass, {}, {}},
    {"Priority", Change::pass, {}, {}},
    {"QOS", Change::pass, {}, {}},
    {"Reboot", Change::refuse, code::administration, kAdministration},
    {"ReqCores", Change::pass, {}, {}},
    {"ReqNodeList", Change::nodes, {}, {}},
    {"ReqNodes", Change::pass, {}, {}},
    {"ReqProcs", Change::pass, {}, {}},
    {"ReqSockets", Change::pass, {}, {}},
    {"ReqThreads", Change::pass, {}, {}},
    {"Requeue", Change::pass, {}, {}},
    {"ReservationName", Change::pass, {}, {}},
    {"ResetAccrueTime", Change::pass, {}, {}},
    {"Shared", Change::pass, {}, {}},
    {"SiteFactor", Change::refuse, code::administration, kAdministration},
    {"SlurmctldDebug", Change::refuse, code::administration, kAdministration},
    {"StartTime", Change::pass, {}, {}},
    {"StdErr", Change::refuse, code::outside_file, kFile},
    {"StdIn", Change::refuse, code::outside_file, kFile},
    {"StdOut", Change::refuse, code::outside_file, kFile},
    {"StepId", Change::refuse, code::command, "steps are not changed"},
    {"Switches", Change::pass, {}, {}},
    {"SystemComment", Change::refuse, code::administration, kAdministration},
    {"TasksPerNode", Change::pass, {}, {}},
    {"ThreadSpec", Change::pass, {}, {}},
    {"TimeLimit", Change::pass, {}, {}},
    {"TimeMin", Change::pass, {}, {}},
    {"UserID", Change::refuse, code::identity, "jobs run as yourself"},
    {"WCKey", Change::pass, {}, {}},
    {"WorkDir", Change::refuse, code::outside_file, "the job would begin outside the jail's directories"},
};

struct Update {
    std::vector<JobId> jobs;
    std::vector<std::string> changes;  // "TimeLimit=10"
    std::optional<std::string> comment;
};

bool is_plain(std::string_view value) {
    return std::ranges::none_of(value, [](char letter) { return static_cast<unsigned char>(letter) < ' '; });
}

std::optional<Denial> problem_with(const Key& key, std::string_view value) {
    auto denial = [&](std::string_view code, std::string_view why) {
        return Denial{std::string(code), base::format("{}: {}", key.name, why), ""};
    };
    if (key.change == Change::refuse) return denial(key.code, key.reason);
    if (key.change == Change::comment) return {};
    if (!is_plain(value)) return denial(code::value, "control characters");
    if (key.change == Change::pass || key.change == Change::id) return {};
    if (value.find('/') != value.npos) return denial(code::value, "'/' can't be in it");
    return {};
}

// One word, split at its first "=". TimeLimit+=10 has a sign at the end of its key.
std::optional<Ending> read_word(const QueryRequest& request, std::string_view word, Update& update) {
    size_t equals = word.find('=');
    std::string_view name = word.substr(0, equals), value = word.substr(equals + 1), sign;
    if (name.ends_with('+') || name.ends_with('-')) {
        sign = name.substr(name.size() - 1);
        name.remove_suffix(1);
    }
    const Key* key = find_by_beginning(std::span<const Key>(kKeys), name);
    if (!key) {
        return request.usage_error(base::format(
            "Update of this parameter is not supported: {}\nRequest aborted\n", base::printable(word)));
    }
    if (auto denial = problem_with(*key, value)) return request.conversation.deny(*denial);
    if (key->change == Change::id) {
        base::Result<std::vector<JobId>> ids = parse_job_ids(value);
        if (!ids) return request.deny(code::value, ids.error().line());
        update.jobs.insert(update.jobs.end(), ids->begin(), ids->end());
    } else if (key->change == Change::comment && sign.empty()) {
        update.comment = value;
    } else if (key->change == Change::comment) {
        return request.usage_error(base::format("scontrol: error: Option {} does not accept [+|-]= syntax\n",
                                                base::printable(word)));
    } else {
        update.changes.push_back(base::format("{}{}={}", key->name, sign, value));
    }
    return {};
}

// "update job 17 …" is "update JobId=17 …".
std::vector<std::string> joined_words(Words words) {
    std::vector<std::string> joined;
    for (size_t at = 0; at < words.size(); ++at) {
        bool is_id =
            base::equals_ignoring_case(words[at], "job") || base::equals_ignoring_case(words[at], "jobid");
        if (is_id && at + 1 < words.size()) {
            joined.push_back("JobId=" + words[at + 1]);
            ++at;
        } else {
            joined.push_back(words[at]);
        }
    }
    return joined;
}

OrEnding<Update> read_update(const QueryRequest& request, Words words) {
    Update update;
    for (const std::string& word : joined_words(words)) {
        if (word.find('=') == word.npos) {
            return request.usage_error(
                base::format("Invalid input: {}\nRequest aborted\n", base::printable(word)));
        }
        if (auto ending = read_word(request, word, update)) return *ending;
    }
    return update;
}

// The comment with the job's own tag, because the agent must not choose the job's scope. A job without a tag
// gets none, and no text that looks like one.
OrEnding<std::string> tagged_comment(const QueryRequest& request, const JobSet& jobs, const JobId& id,
                                     const std::string& comment) {
    for (const JobRow* row : jobs.rows_of(id.job)) {
        if (!row->tag) continue;
        base::Result<std::string> whole = append_tag(comment, *row->tag);
        if (whole) return *std::move(whole);
        return request.deny(code::value, "Comment: " + whole.error().line());
    }
    if (!split_comment(comment).tag) return comment;
    return request.deny(code::value, "Comment: it ends like the tag of a session");
}

Ending run_update(const QueryRequest& request, const Update& update, const std::string& ids,
                  const std::string* comment, const Disguise& disguise) {
    std::vector<std::string> said = {"update", "JobId=" + ids};
    said.insert(said.end(), update.changes.begin(), update.changes.end());
    if (comment) said.push_back("Comment=" + *comment);
    return run_disguised(request, said, disguise);
}

// Jobs can have different tags, so each needs its own call.
Ending update_comments(const QueryRequest& request, const Update& update, const JobSet& jobs) {
    Ending worst;
    for (const JobId& id : update.jobs) {
        OrEnding<std::string> comment = tagged_comment(request, jobs, id, *update.comment);
        if (auto* ending = std::get_if<Ending>(&comment)) return *ending;
        Disguise disguise(jobs);
        std::string text = disguise.text_of(id);
        Ending ending = run_update(request, update, text, &std::get<std::string>(comment), disguise);
        if (ending.status != 0) worst = ending;
    }
    return worst;
}

}  // namespace

Ending scontrol_update(const QueryRequest& request, Words words) {
    if (words.empty()) return run_scontrol(request, {"update"});
    OrEnding<Update> read = read_update(request, words);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& update = std::get<Update>(read);
    if (update.jobs.empty()) {
        return request.deny(code::value, "update: no JobId is given", "name the job with JobId=");
    }
    OrEnding<JobSet> asked = ask_jobs(request);
    if (auto* ending = std::get_if<Ending>(&asked)) return *ending;
    const auto& jobs = std::get<JobSet>(asked);
    if (update.comment) return update_comments(request, update, jobs);
    Disguise disguise(jobs);
    std::string ids = disguise.text_of(update.jobs);
    return run_update(request, update, ids, nullptr, disguise);
}

}  // namespace slurm::queries
