// SPDX-License-Identifier: MIT
// The one table of verbs: a row has the function of a verb and its words and flags. The parser, help, the
// manual and completion use it. Its function is in a thin file, alone or with verbs of the same topic.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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
    std::string_view usage;             // its arguments, as help shows them
    std::string_view help;              // one sentence, no full stop
    // The words that completion offers: "show|check @path" offers show and check, and files after check. Any
    // number of words may follow. @path and the like stand for names that are not in this table
    // (cli/completion/complete.cc).
    std::string_view words;
    std::string_view flags;         // its own, "--json --session=ID"; a name after '=' is the value
    std::string_view hidden_flags;  // likewise; for scripts, so help and completion do not list them
    bool takes_run_flags = false;   // and a command
    std::string_view details;       // for `help VERB`; cli/help/topics.h has the form
    bool is_hidden = false;         // help and completion do not list it
};

// Without the hidden ones.
std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

// "usage: agent-sandbox trust [DIRECTORY]"
std::string usage_of(std::string_view name);

inline constexpr std::string_view kSessionFlag = "--session";
inline constexpr std::string_view kExecVerb = "exec";
inline constexpr std::string_view kAttachVerb = "attach";

// A flag that belongs to one verb.
struct VerbFlag {
    std::string_view flag;
    std::string_view value_name;  // empty: it takes no value
};
// Those that help lists, and all that the verb accepts.
std::vector<VerbFlag> flags_of(const Verb& verb);
std::vector<VerbFlag> accepted_flags_of(const Verb& verb);

int ask_verb(const Invocation& call);
int request_verb(const Invocation& call);
int run_verb(const Invocation& call);
int plan_verb(const Invocation& call);
int why_verb(const Invocation& call);
int policy_verb(const Invocation& call);
int config_verb(const Invocation& call);
int profiles_verb(const Invocation& call);
int secret_verb(const Invocation& call);
int trust_verb(const Invocation& call);
int untrust_verb(const Invocation& call);
int doctor_verb(const Invocation& call);
int selftest_verb(const Invocation& call);
int ps_verb(const Invocation& call);
int inspect_verb(const Invocation& call);
int stop_verb(const Invocation& call);
int exec_verb(const Invocation& call);
int mcp_verb(const Invocation& call);
int attach_verb(const Invocation& call);
int allow_verb(const Invocation& call);
int block_verb(const Invocation& call);
int reload_verb(const Invocation& call);
int publish_verb(const Invocation& call);
int pending_verb(const Invocation& call);
int approve_verb(const Invocation& call);
int deny_verb(const Invocation& call);
int monitor_verb(const Invocation& call);
int log_verb(const Invocation& call);
int digest_verb(const Invocation& call);
int keep_verb(const Invocation& call);
int release_verb(const Invocation& call);
int layers_verb(const Invocation& call);
int diff_verb(const Invocation& call);
int apply_verb(const Invocation& call);
int discard_verb(const Invocation& call);
int checkpoint_verb(const Invocation& call);
int rollback_verb(const Invocation& call);
int notify_verb(const Invocation& call);
int slurm_log_verb(const Invocation& call);
int slurm_script_verb(const Invocation& call);
int completion_verb(const Invocation& call);
int complete_verb(const Invocation& call);
int help_verb(const Invocation& call);
int version_verb(const Invocation& call);

}  // namespace cli
