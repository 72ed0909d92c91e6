// SPDX-License-Identifier: MIT
// sbatch, srun and salloc share most of their options, so they share the rows.
#include <algorithm>
#include <array>

#include "slurm/options/tables.h"

namespace slurm::tables {
namespace {

using namespace rows;

enum Of : unsigned { batch = 1, run = 2, alloc = 4, all = 7 };

struct Row {
    unsigned of;
    Option option;
};

// Slurm would open a job's directory, input and output itself. The jail on the node opens them instead.
constexpr std::string_view kOpenedInside = "opened inside the jail, never by Slurm";

constexpr Row kRows[] = {
    {run, pass("accel-bind", 0, value)},
    {all, pass("account", 'A', value)},
    {all, pass("acctg-freq", 0, value)},
    {batch, pass("array", 'a', value)},
    {batch, pass("batch", 0, value)},
    {run, refuse("bcast", 0, maybe, code::outside_file, "Slurm would copy and write files itself")},
    {run, refuse("bcast-exclude", 0, value, code::outside_file, "Slurm would copy and write files itself")},
    {all, pass("begin", 'b', value)},
    {alloc, pass("bell", 0, nothing)},
    {all, refuse("bb", 0, value, code::outside_file, "a burst buffer moves files outside the jail")},
    {all, refuse("bbf", 0, value, code::outside_file, "Slurm would open the file itself")},
    {all, refuse("cluster-constraint", 0, value, code::other_cluster, kOtherCluster)},
    {all, handled("chdir", 'D', value, Check::anything, "the job starts in a directory of the jail")},
    {all, handled("cluster", 0, value, Check::word_list, kThisCluster)},
    {all, handled("clusters", 'M', value, Check::word_list, kThisCluster)},
    {all, handled("comment", 0, value, Check::anything, "the tag of the session follows the text")},
    {run, refuse("compress", 0, maybe, code::outside_file, "Slurm would copy and write files itself")},
    {all, refuse("container", 0, value, code::outside_code, "the container would be made outside the jail")},
    {all, refuse("context", 0, value, code::identity, "jobs run in the security context of their user")},
    {all, pass("contiguous", 0, nothing)},
    {all, pass("constraint", 'C', value)},
    {all, pass("core-spec", 'S', value)},
    {all, pass("cores-per-socket", 0, value)},
    {run, pass("cpu-bind", 0, value)},
    {run, also("cpu_bind", "cpu-bind", value)},
    {all, pass("cpu-freq", 0, value)},
    {all, pass("cpus-per-gpu", 0, value)},
    {all, pass("cpus-per-task", 'c', value)},
    {all, pass("deadline", 0, value)},
    {run, refuse("debugger-test", 0, nothing, code::administration, "a switch for tests of Slurm itself")},
    {all, pass("delay-boot", 0, value)},
    {all, pass("dependency", 'd', value)},
    {run, pass("disable-status", 'X', nothing)},
    {all, pass("distribution", 'm', value)},
    {run, refuse("epilog", 0, value, code::outside_code, "the program would run outside the jail")},
    {batch | run, handled("error", 'e', value, Check::anything, kOpenedInside)},
    {run, pass("exact", 0, nothing)},
    {all, pass("exclude", 'x', value, Check::nodes)},
    {all, pass("exclusive", 0, maybe)},
    {batch | run, handled("export", 0, value, Check::anything,
                          "chooses among the variables of the jail, never of the host")},
    {batch, handled("export-file", 0, value, Check::anything,
                    "read inside the jail; its variables are chosen as those of --export")},
    {all, pass("extra-node-info", 'B', value)},
    {batch | alloc, refuse("get-user-env", 0, maybe, code::host_environment,
                           "the login environment of the host does not enter the jail")},
    {all, refuse("gid", 0, value, code::identity, "jobs run with your own group")},
    {all, pass("gpu-bind", 0, value)},
    {all, pass("gpu-freq", 0, value)},
    {all, pass("gpus", 'G', value)},
    {all, pass("gpus-per-node", 0, value)},
    {all, pass("gpus-per-socket", 0, value)},
    {all, pass("gpus-per-task", 0, value)},
    {all, pass("gres", 0, value)},
    {all, pass("gres-flags", 0, value)},
    {all, informs("help", 'h')},
    {run, refuse("het-group", 0, value, code::heterogeneous,
                 "heterogeneous jobs are not made from inside the jail")},
    {all, pass("hint", 0, value)},
    {all, pass("hold", 'H', nothing)},
    {batch, handled("ignore-pbs", 0, nothing, Check::text, "always given")},
    {run | alloc, pass("immediate", 'I', maybe)},
    {batch | run, handled("input", 'i', value, Check::anything, kOpenedInside)},
    {run, refuse("interactive", 0, nothing, code::administration, "Slurm's own switch for salloc")},
    {run, handled("jobid", 0, value, Check::text, "only a job that this project submitted may be entered")},
    {all, handled("job-name", 'J', value, Check::job_name,
                  "always given, so that Slurm never derives it from our file")},
    {alloc, pass("kill-command", 'K', maybe)},
    {batch, pass("kill-on-invalid-dep", 0, value)},
    {run, pass("kill-on-bad-exit", 'K', maybe)},
    {run, pass("label", 'l', nothing)},
    {all, pass("licenses", 'L', value)},
    {all, handled("mail-type", 0, value, Check::text, "left out, with a message, where mail is closed")},
    {all, handled("mail-user", 0, value, Check::text, "only the account's own address")},
    {run, pass("threads", 'T', value)},
    {all, pass("mcs-label", 0, value)},
    {all, pass("mem", 0, value)},
    {all, pass("mem-bind", 0, value)},
    {all, pass("mem-per-cpu", 0, value)},
    {all, pass("mem-per-gpu", 0, value)},
    {all, pass("mincpus", 0, value)},
    {run, pass("mpi", 0, value, Check::word)},
    {run, pass("msg-timeout", 0, value)},
    {run, refuse("multi-prog", 0, nothing, code::multi_prog,
                 "the programs of the list would start outside the jail; start them from one script by "
                 "SLURM_PROCID")},
    {all, refuse("network", 0, value, code::network, "the interconnect is set by the jail")},
    {all, pass("nice", 0, maybe)},
    {alloc, pass("no-bell", 0, nothing)},
    {run, refuse("no-allocate", 'Z', nothing, code::administration, "only for administrators")},
    {all, pass("no-kill", 'k', maybe)},
    {alloc, handled("no-shell", 0, nothing, Check::text, "the allocation stays without a command")},
    {batch, pass("no-requeue", 0, nothing)},
    {all, refuse("nodefile", 'F', value, code::outside_file,
                 "Slurm would open the file itself; give the nodes with --nodelist")},
    {all, pass("nodelist", 'w', value, Check::nodes)},
    {all, pass("nodes", 'N', value)},
    {all, pass("ntasks", 'n', value)},
    {all, pass("ntasks-per-core", 0, value)},
    {all, pass("ntasks-per-gpu", 0, value)},
    {all, pass("ntasks-per-node", 0, value)},
    {all, pass("ntasks-per-socket", 0, value)},
    {all, pass("ntasks-per-tres", 0, value)},
    {batch | run, handled("open-mode", 0, value, Check::word, kOpenedInside)},
    {batch | run, handled("output", 'o', value, Check::anything, kOpenedInside)},
    {all, pass("overcommit", 'O', nothing)},
    {run, pass("overlap", 0, maybe)},
    {all, pass("oversubscribe", 's', nothing)},
    {batch, pass("parsable", 0, nothing)},
    {run, also("pack-group", "het-group", value)},
    {all, pass("partition", 'p', value)},
    {all, pass("power", 0, value)},
    {all, pass("prefer", 0, value)},
    {run, pass("preserve-env", 'E', nothing)},
    {all, pass("priority", 0, value)},
    {all, pass("profile", 0, value)},
    {run, refuse("prolog", 0, value, code::outside_code, "the program would run outside the jail")},
    {batch | run, refuse("propagate", 0, maybe, code::host_environment, "the jail sets the limits of a job")},
    {run, handled("pty", 0, nothing, Check::text, "the terminal is made outside and relayed")},
    {all, pass("qos", 'q', value)},
    {all, pass("quiet", 'Q', nothing)},
    {run, pass("quit-on-interrupt", 0, nothing)},
    {all,
     refuse("reboot", 0, nothing, code::administration, "nodes are not restarted for a job of the jail")},
    {batch, pass("requeue", 0, nothing)},
    {run, pass("relative", 'r', value)},
    {all, pass("reservation", 0, value)},
    {run, pass("resv-ports", 0, maybe)},
    {run, refuse("send-libs", 0, maybe, code::outside_file, "Slurm would copy and write files itself")},
    {all, pass("signal", 0, value)},
    {run, refuse("slurmd-debug", 0, value, code::administration, "only for administrators")},
    {all, pass("sockets-per-node", 0, value)},
    {all, pass("spread-job", 0, nothing)},
    {all, pass("switches", 0, value)},
    {run, refuse("task-epilog", 0, value, code::outside_code, "the program would run outside the jail")},
    {run, refuse("task-prolog", 0, value, code::outside_code, "the program would run outside the jail")},
    {all, also("tasks-per-node", "ntasks-per-node", value)},
    {batch | run, pass("test-only", 0, nothing)},
    {all, pass("thread-spec", 0, value)},
    {all, pass("threads-per-core", 0, value)},
    {all, pass("time", 't', value)},
    {all, pass("time-min", 0, value)},
    {all, pass("tmp", 0, value)},
    {all, refuse("uid", 0, value, code::identity, "jobs run as yourself")},
    {run, pass("unbuffered", 'u', nothing)},
    {all, pass("use-min-nodes", 0, nothing)},
    {all, pass("verbose", 'v', nothing)},
    {all, informs("version", 'V')},
    {all, informs("usage", 0)},
    {batch, handled("wait", 'W', nothing, Check::text, "the call lasts until the job has ended")},
    {run, pass("wait", 'W', value)},
    {batch | alloc, pass("wait-all-nodes", 0, value)},
    {all, pass("wckey", 0, value)},
    {batch, handled("wrap", 0, value, Check::anything, "becomes the script of the job")},
    {run, pass("whole", 0, nothing)},
    {run | alloc, refuse("x11", 0, maybe, code::network, "no display is forwarded into or out of the jail")},

    // Options of other releases.
    {all, released("from 22.11", pass("extra", 0, value))},
    {all, released("from 22.11", pass("tres-bind", 0, value))},
    {all, released("from 22.11", pass("tres-per-task", 0, value))},
    {all, released("from 23.02", refuse("container-id", 0, value, code::outside_code,
                                        "the container would be made outside the jail"))},
    {run, released("from 23.02", pass("treewidth", 0, value))},
    {run, released("from 23.11", refuse("async", 0, nothing, code::administration,
                                        "a step without a waiting srun is not possible in the jail"))},
    {run, released("from 23.11", refuse("external-launcher", 0, maybe, code::outside_code,
                                        "the launcher would run outside the jail"))},
    {all, released("from 23.11", pass("oom-kill-step", 0, maybe))},
    {batch | alloc, released("from 23.11", pass("resv-ports", 0, maybe))},
    {all, released("from 24.05", pass("stepmgr", 0, nothing))},
    {run, released("from 24.05", pass("wait-for-children", 0, nothing))},
    {all, released("from 24.11", pass("segment", 0, value))},
    {run, released("until 20.11", also("mem_bind", "mem-bind", value))},
    {run, released("until 20.11", refuse("launch-cmd", 0, nothing, code::administration,
                                         "shows how Slurm would start a step outside the jail"))},
    {run, released("until 20.11", refuse("launcher-opts", 0, value, code::outside_code,
                                         "options of a launcher outside the jail"))},
    {all, released("until 20.11", also("share", "oversubscribe", nothing))},
};

template <unsigned of>
constexpr auto rows_of() {
    constexpr size_t size =
        std::count_if(std::begin(kRows), std::end(kRows), [](const Row& row) { return (row.of & of) != 0; });
    std::array<Option, size> options;
    size_t next = 0;
    for (const Row& row : kRows)
        if (row.of & of) options[next++] = row.option;
    return options;
}

constexpr auto kBatch = rows_of<batch>();
constexpr auto kRun = rows_of<run>();
constexpr auto kAlloc = rows_of<alloc>();

}  // namespace

std::span<const Option> sbatch() {
    return kBatch;
}
std::span<const Option> srun() {
    return kRun;
}
std::span<const Option> salloc() {
    return kAlloc;
}

}  // namespace slurm::tables
