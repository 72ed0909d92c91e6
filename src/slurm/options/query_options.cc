// SPDX-License-Identifier: MIT
// Commands that query jobs and nodes, or act on existing jobs. Options that select jobs or users are handled:
// the selection is restricted to the session's scope before Slurm gets it. Options that only filter or format
// that set pass.
#include "slurm/options/tables.h"

namespace slurm::tables {
namespace {

using namespace rows;

constexpr std::string_view kSelects = "selects among the jobs that this session may see";
constexpr std::string_view kOwnUser = "only your own jobs are shown";
constexpr std::string_view kRepeats = "each round is asked anew, since the set of jobs changes";
constexpr std::string_view kNamesOthers = "may name users who are not concerned";

constexpr Option kQueue[] = {
    pass("accounts", 'A', value),
    pass("all", 'a', nothing),
    pass("array", 'r', nothing),
    pass("array-unique", 0, nothing),
    pass("Format", 'O', value),
    pass("format", 'o', value),
    refuse("federation", 0, nothing, code::other_cluster, kOtherCluster),
    informs("help", 0),
    pass("hide", 0, nothing),
    handled("iterate", 'i', value, Check::text, kRepeats),
    handled("jobs", 'j', maybe, Check::text, kSelects),
    pass("local", 0, nothing),
    pass("long", 'l', nothing),
    pass("licenses", 'L', value),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    handled("me", 0, nothing, Check::text, kSelects),
    pass("name", 'n', value),
    pass("noconvert", 0, nothing),
    also("node", "nodelist", value),
    also("nodes", "nodelist", value),
    pass("nodelist", 'w', value),
    pass("noheader", 'h', nothing),
    pass("partitions", 'p', value),
    pass("priority", 'P', nothing),
    pass("qos", 'q', value),
    pass("reservation", 'R', value),
    also("sib", "sibling", nothing),
    pass("sibling", 0, nothing),
    pass("sort", 'S', value),
    pass("start", 0, nothing),
    handled("steps", 's', maybe, Check::text, kSelects),
    pass("states", 't', value),
    informs("usage", 0),
    also("user", "users", value),
    handled("users", 'u', value, Check::text, kSelects),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    handled("json", 0, maybe, Check::word, kChosenRecords),
    refuse("yaml", 0, maybe, code::other_users, kEveryRecord),
    pass("", 'U', value),
    released("from 23.11", informs("helpformat", 0)),
    released("from 23.11", informs("helpFormat", 0)),
    released("from 24.05", pass("expand-patterns", 0, nothing)),
    released("from 24.05", pass("only-job-state", 0, nothing)),
    released("from 24.11", refuse("notme", 0, nothing, code::other_users, kOwnUser)),
};

constexpr Option kCancel[] = {
    handled("account", 'A', value, Check::text, kSelects),
    pass("batch", 'b', nothing),
    pass("ctld", 0, nothing),
    pass("full", 'f', nothing),
    informs("help", 0),
    pass("hurry", 'H', nothing),
    pass("interactive", 'i', nothing),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    also("jobname", "name", value),
    handled("me", 0, nothing, Check::text, kSelects),
    handled("name", 'n', value, Check::text, kSelects),
    handled("nodelist", 'w', value, Check::nodes, kSelects),
    handled("partition", 'p', value, Check::text, kSelects),
    handled("qos", 'q', value, Check::text, kSelects),
    pass("quiet", 'Q', nothing),
    handled("reservation", 'R', value, Check::text, kSelects),
    refuse("sibling", 0, value, code::other_cluster, kOtherCluster),
    pass("signal", 's', value),
    handled("state", 't', value, Check::text, kSelects),
    informs("usage", 0),
    handled("user", 'u', value, Check::text, kSelects),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    handled("wckey", 0, value, Check::text, kSelects),
    released("from 23.11", refuse("cron", 0, nothing, code::command, "there is no scrontab in the jail")),
    released("from 24.11",
             refuse("admin-comment", 0, value, code::administration, "only for administrators")),
};

constexpr Option kControl[] = {
    pass("all", 'a', nothing),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    pass("details", 'd', nothing),
    refuse("federation", 0, nothing, code::other_cluster, kOtherCluster),
    pass("future", 'F', nothing),
    informs("help", 'h'),
    pass("hide", 0, nothing),
    pass("local", 0, nothing),
    pass("oneliner", 'o', nothing),
    pass("quiet", 'Q', nothing),
    pass("sibling", 0, nothing),
    refuse("uid", 'u', value, code::identity, "jobs are changed as yourself"),
    informs("usage", 0),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    released("from 22.11", handled("json", 0, maybe, Check::word, kChosenRecords)),
    released("from 22.11", refuse("yaml", 0, maybe, code::other_users, kEveryRecord)),
};

constexpr Option kAccounting[] = {
    handled("allusers", 'a', nothing, Check::text, kOwnUser),
    pass("accounts", 'A', value),
    pass("allocations", 'X', nothing),
    pass("brief", 'b', nothing),
    refuse("batch-script", 'B', nothing, code::outside_file,
           "scripts as Slurm keeps them are those of the jail's entry, or of jobs outside the jail"),
    refuse("completion", 'c', nothing, code::other_users, "that record is not kept by user"),
    pass("constraints", 'C', value),
    pass("delimiter", 0, value),
    pass("duplicates", 'D', nothing),
    refuse("federation", 0, nothing, code::other_cluster, kOtherCluster),
    informs("helpformat", 'e'),
    also("help-fields", "helpformat", nothing),
    pass("endtime", 'E', value),
    refuse("env-vars", 0, nothing, code::host_environment,
           "the variables of a job as Slurm keeps them are those of the host"),
    refuse("file", 'f', value, code::outside_file, "Slurm would open the file itself"),
    pass("flags", 'F', value),
    also("gid", "group", value),
    pass("group", 'g', value),
    informs("help", 'h'),
    pass("local", 0, nothing),
    pass("name", 0, value),
    pass("nnodes", 'i', value),
    pass("ncpus", 'I', value),
    handled("jobs", 'j', value, Check::text, kSelects),
    pass("timelimit-min", 'k', value),
    pass("timelimit-max", 'K', value),
    pass("long", 'l', nothing),
    handled("allclusters", 'L', nothing, Check::text, kThisCluster),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    pass("nodelist", 'N', value),
    pass("noconvert", 0, nothing),
    pass("units", 0, value),
    pass("noheader", 'n', nothing),
    also("fields", "format", value),
    pass("format", 'o', value),
    pass("parsable", 'p', nothing),
    pass("parsable2", 'P', nothing),
    pass("qos", 'q', value),
    pass("partition", 'r', value),
    pass("reason", 0, value),
    pass("state", 's', value),
    pass("starttime", 'S', value),
    pass("truncate", 'T', nothing),
    also("uid", "user", value),
    pass("use-local-uid", 0, nothing),
    informs("usage", 'U'),
    handled("user", 'u', value, Check::text, kOwnUser),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    pass("wckeys", 'W', value),
    pass("whole-hetjob", 0, maybe),
    pass("associations", 'x', value),
    pass("json", 0, maybe),
    pass("yaml", 0, maybe),
    pass("", 't', nothing),
    released("from 23.11", pass("array", 0, nothing)),
    released("from 24.05", pass("expand-patterns", 0, nothing)),
};

constexpr Option kManager[] = {
    informs("help", 'h'),
    informs("usage", 0),
    pass("immediate", 'i', nothing),
    pass("noheader", 'n', nothing),
    pass("oneliner", 'o', nothing),
    pass("parsable", 'p', nothing),
    pass("parsable2", 'P', nothing),
    pass("quiet", 'Q', nothing),
    pass("readonly", 'r', nothing),
    refuse("associations", 's', nothing, code::other_users, kNamesOthers),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    released("from 23.11", refuse("json", 0, maybe, code::other_users, kEveryRecord)),
    released("from 23.11", refuse("yaml", 0, maybe, code::other_users, kEveryRecord)),
};

constexpr Option kInfo[] = {
    pass("all", 'a', nothing),
    pass("dead", 'd', nothing),
    pass("exact", 'e', nothing),
    refuse("federation", 0, nothing, code::other_cluster, kOtherCluster),
    informs("help", 0),
    pass("hide", 0, nothing),
    pass("iterate", 'i', value),
    pass("local", 0, nothing),
    pass("long", 'l', nothing),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    pass("nodes", 'n', value),
    pass("noconvert", 0, nothing),
    pass("noheader", 'h', nothing),
    pass("Node", 'N', nothing),
    handled("format", 'o', value, Check::anything, kNamesOthers),
    handled("Format", 'O', value, Check::anything, kNamesOthers),
    pass("partition", 'p', value),
    pass("responding", 'r', nothing),
    handled("list-reasons", 'R', nothing, Check::text, kNamesOthers),
    pass("summarize", 's', nothing),
    pass("sort", 'S', value),
    pass("states", 't', value),
    pass("reservation", 'T', nothing),
    informs("usage", 0),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    handled("json", 0, maybe, Check::word, kChosenRecords),
    refuse("yaml", 0, maybe, code::other_users, kEveryRecord),
    released("from 23.11", informs("helpformat", 0)),
    released("from 23.11", informs("helpFormat", 0)),
};

constexpr Option kStatus[] = {
    pass("allsteps", 'a', nothing),
    informs("helpformat", 'e'),
    informs("help", 'h'),
    handled("jobs", 'j', value, Check::text, kSelects),
    pass("noheader", 'n', nothing),
    also("fields", "format", value),
    pass("format", 'o', value),
    pass("noconvert", 0, nothing),
    pass("pidformat", 'i', nothing),
    pass("parsable", 'p', nothing),
    pass("parsable2", 'P', nothing),
    informs("usage", 0),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
};

constexpr Option kPriority[] = {
    pass("noheader", 'h', nothing),
    handled("jobs", 'j', maybe, Check::text, kSelects),
    pass("long", 'l', nothing),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    pass("norm", 'n', nothing),
    pass("format", 'o', value),
    pass("sort", 'S', value),
    pass("partition", 'p', value),
    also("user", "users", value),
    handled("users", 'u', value, Check::text, kOwnUser),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    pass("weights", 'w', nothing),
    refuse("federation", 0, nothing, code::other_cluster, kOtherCluster),
    informs("help", 0),
    pass("local", 0, nothing),
    also("sib", "sibling", nothing),
    pass("sibling", 0, nothing),
    informs("usage", 0),
};

constexpr Option kShare[] = {
    pass("accounts", 'A', value),
    handled("all", 'a', nothing, Check::text, kOwnUser),
    informs("helpformat", 'e'),
    pass("long", 'l', nothing),
    pass("partition", 'm', nothing),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    pass("noheader", 'n', nothing),
    pass("format", 'o', value),
    pass("parsable", 'p', nothing),
    pass("parsable2", 'P', nothing),
    handled("users", 'u', value, Check::text, kOwnUser),
    pass("Users", 'U', nothing),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    informs("help", 0),
    informs("usage", 0),
    pass("", 'h', nothing),
    pass("", 'q', nothing),
    pass("", 't', value),
    released("from 23.11", refuse("json", 0, maybe, code::other_users, kEveryRecord)),
    released("from 23.11", refuse("yaml", 0, maybe, code::other_users, kEveryRecord)),
};

constexpr Option kDiagnosis[] = {
    pass("all", 'a', nothing),
    informs("help", 'h'),
    refuse("reset", 'r', nothing, code::administration, "the counters are the administrator's"),
    pass("sort-by-id", 'i', nothing),
    also("cluster", "clusters", value),
    handled("clusters", 'M', value, Check::word_list, kThisCluster),
    pass("sort-by-time", 't', nothing),
    pass("sort-by-time2", 'T', nothing),
    informs("usage", 0),
    informs("version", 'V'),
    released("from 23.02", refuse("json", 0, maybe, code::other_users, kEveryRecord)),
    released("from 23.02", refuse("yaml", 0, maybe, code::other_users, kEveryRecord)),
};

constexpr Option kReport[] = {
    handled("all_clusters", 'a', nothing, Check::text, kThisCluster),
    handled("cluster", 'M', value, Check::word_list, kThisCluster),
    refuse("federation", 0, nothing, code::other_cluster, kOtherCluster),
    informs("help", 'h'),
    pass("immediate", 0, nothing),
    pass("local", 0, nothing),
    pass("noheader", 'n', nothing),
    pass("parsable", 'p', nothing),
    pass("parsable2", 'P', nothing),
    pass("quiet", 'Q', nothing),
    pass("sort", 0, nothing),
    pass("tres", 'T', value),
    informs("usage", 0),
    pass("verbose", 'v', nothing),
    informs("version", 'V'),
    pass("", 's', value),
    pass("", 't', value),
};

}  // namespace

std::span<const Option> squeue() {
    return kQueue;
}
std::span<const Option> scancel() {
    return kCancel;
}
std::span<const Option> scontrol() {
    return kControl;
}
std::span<const Option> sacct() {
    return kAccounting;
}
std::span<const Option> sacctmgr() {
    return kManager;
}
std::span<const Option> sinfo() {
    return kInfo;
}
std::span<const Option> sstat() {
    return kStatus;
}
std::span<const Option> sprio() {
    return kPriority;
}
std::span<const Option> sshare() {
    return kShare;
}
std::span<const Option> sdiag() {
    return kDiagnosis;
}
std::span<const Option> sreport() {
    return kReport;
}

}  // namespace slurm::tables
