// SPDX-License-Identifier: MIT
// The verbs: one row and one thin file each. config/verbs.h describes each verb, for completion and the
// reference; this file has its function and its details.
#pragma once

#include <string>
#include <string_view>

namespace cli {

struct Arguments;
struct Caller;
class Output;

struct Invocation {
    const Caller& caller;
    const Arguments& arguments;
    Output& output;
};

struct Verb {
    std::string_view name;
    int (*perform)(const Invocation&);  // returns the exit code
    std::string_view details;           // for `help VERB`; may be empty
};

const Verb* find_verb(std::string_view name);

// "usage: agent-sandbox trust [DIRECTORY]"
std::string usage_of(std::string_view name);

int run_verb(const Invocation& call);
int plan_verb(const Invocation& call);
int why_verb(const Invocation& call);
int policy_verb(const Invocation& call);
int config_verb(const Invocation& call);
int profiles_verb(const Invocation& call);
int trust_verb(const Invocation& call);
int untrust_verb(const Invocation& call);
int doctor_verb(const Invocation& call);
int selftest_verb(const Invocation& call);
int ps_verb(const Invocation& call);
int inspect_verb(const Invocation& call);
int stop_verb(const Invocation& call);
int allow_verb(const Invocation& call);
int block_verb(const Invocation& call);
int reload_verb(const Invocation& call);
int pending_verb(const Invocation& call);
int approve_verb(const Invocation& call);
int deny_verb(const Invocation& call);
int monitor_verb(const Invocation& call);
int log_verb(const Invocation& call);
int digest_verb(const Invocation& call);
int notify_verb(const Invocation& call);
int slurm_log_verb(const Invocation& call);
int completion_verb(const Invocation& call);
int help_verb(const Invocation& call);
int version_verb(const Invocation& call);

}  // namespace cli
