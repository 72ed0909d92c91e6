// SPDX-License-Identifier: MIT
#include "import/bash_values.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/parse.h"
#include "base/text.h"

namespace config {
namespace {

struct Renamed {
    std::string_view variable;
    std::string_view key;      // empty: this program has no such setting
    std::string_view instead;  // then: the advice for the user
};

constexpr Renamed kNames[] = {
    {"ALLOWED_PROJECT_PARENTS", "project.parents", ""},
    {"READONLY_MOUNTS", "mounts.readonly", ""},
    {"HOME_ACCESS", "home.access", ""},
    {"HOME_READONLY", "home.readonly", ""},
    {"HOME_WRITABLE", "home.writable", ""},
    {"HOME_SEEDED_FILES", "home.seeded", ""},
    {"EXTRA_BLOCKED_PATHS", "mounts.hidden", ""},
    {"BLOCKED_FILES", "mounts.hidden", ""},
    {"EXTRA_WRITABLE_PATHS", "mounts.writable", ""},
    {"SANDBOX_BYPASS_TOKEN", "mounts.hidden", ""},
    {"TOKEN_FILE", "mounts.hidden", ""},
    {"DENIED_WRITABLE_PATHS", "mounts.deny_writable", ""},
    {"DEVICES", "devices.allow", ""},
    {"DEVICES_BLACKLIST", "devices.deny", ""},
    {"BLOCKED_ENV_VARS", "env.block", ""},
    {"BLOCKED_ENV_PATTERNS", "env.block_patterns", ""},
    {"ALLOWED_ENV_VARS", "env.allow", ""},
    {"HIDE_FROM_SANDBOX", "env.block", ""},
    {"SANDBOX_ENV", "env.set", ""},
    {"SANDBOX_BACKEND", "isolation.backend", ""},
    {"SANDBOX_MODULES", "modules.load", ""},
    {"PRIVATE_TMP", "isolation.private_tmp", ""},
    {"PRIVATE_IPC", "isolation.private_ipc", ""},
    {"FILTER_PASSWD", "isolation.filter_passwd", ""},
    {"SANDBOX_NPROC_LIMIT", "limits.processes", ""},
    {"SANDBOX_QUIET", "ui.quiet", ""},
    {"NETWORK_FILTER_MODE", "network.mode", ""},
    {"NETWORK_FILTER_FALLBACK", "network.fallback", ""},
    {"NETWORK_BLOCKLIST", "network.block", ""},
    {"NETWORK_BLOCKLIST_EXCEPT", "network.allow", ""},
    {"NETWORK_MAIL_BLOCK", "network.mail_block", ""},
    {"SLURM_SCOPE", "slurm.scope", ""},
    {"CHAPERON_LOG_LEVEL", "",
     "there is no slurm.log_level: what a session asked of Slurm is always logged, and 'agent-sandbox "
     "slurm-log' shows it"},
    {"CHAPERON_LOG_RETAIN_DAYS", "",
     "there is no slurm.log_days: logs of Slurm are removed after 30 days; audit.keep says how long the "
     "record of a session is kept"},
    {"BIND_DEV_PTS", "", "every jail has a /dev/pts of its own"},
    {"LANDLOCK_REQUIRED_ABI", "",
     "there is no such setting: isolation.require names the weakest level that a run may start with, and "
     "'agent-sandbox doctor' shows the level of each control on this machine"},
    {"LANDLOCK_HARD_REQUIREMENT", "",
     "there is no such setting: isolation.require names the weakest level that a run may start with, and "
     "'agent-sandbox doctor' shows the level of each control on this machine"},
    {"ENABLED_AGENTS", "",
     "there is no agents.enabled: the profile of the agent that is run counts, and no other agent's files "
     "are seen; 'agent-sandbox profiles' lists them"},
    {"SUPPRESS_AGENT_WARNINGS", "",
     "there is no agents.quiet: ui.quiet silences what is said at start and end, and 'agent-sandbox digest "
     "--not-needed WHAT' a refusal that does not matter"},
};

const Renamed* find_name(std::string_view variable) {
    const Renamed* row = std::ranges::find(kNames, variable, &Renamed::variable);
    return row == std::end(kNames) ? nullptr : row;
}

}  // namespace

std::string_view key_of_bash_variable(std::string_view variable) {
    const Renamed* row = find_name(variable);
    return row == nullptr ? std::string_view() : row->key;
}

std::vector<std::string_view> names_of_predecessor() {
    std::vector<std::string_view> names;
    for (const Renamed& row : kNames) names.push_back(row.variable);
    return names;
}

bool is_name_of_predecessor(std::string_view variable) {
    return find_name(variable) != nullptr;
}

std::string reason_for_bash_variable(std::string_view variable) {
    if (const Renamed* row = find_name(variable)) {
        return row->instead.empty() ? base::format("this version has no setting {}", row->key)
                                    : std::string(row->instead);
    }
    std::string meant = base::nearest(variable, names_of_predecessor());
    std::string reason = "no setting belongs to this variable";
    if (!meant.empty()) return base::format("{}; {} was probably meant", reason, meant);
    return reason + "; one that the jail shall have stands in env.set";
}

namespace {

// Every list starts with this entry. It stays if the file adds to the list and is missing if the file
// replaces the list. Paths, names and rules can't contain this character.
constexpr std::string_view kBefore = "\x01";

// Every field ends with NUL. Pathname expansion is off: /dev/nvidia* stays a pattern, as in our settings.
constexpr std::string_view kScript = R"bash(
__as_conf=$1
[[ -z $2 ]] || HOME=$2 USER=$3 LOGNAME=$3
shift 3
exec {__as_out}>&1 1>/dev/null </dev/null
LC_ALL=C.UTF-8
if ! __as_trouble=$("$BASH" -n "$__as_conf" 2>&1); then
    printf 'syntax\0%s\0' "$__as_trouble" >&"$__as_out"
    exit 0
fi
__as_errors=$(mktemp)
exec 2>"$__as_errors"
set -f
__as_lists=(ALLOWED_PROJECT_PARENTS READONLY_MOUNTS HOME_READONLY HOME_WRITABLE HOME_SEEDED_FILES
    BLOCKED_FILES BLOCKED_ENV_VARS BLOCKED_ENV_PATTERNS ALLOWED_ENV_VARS HIDE_FROM_SANDBOX
    EXTRA_BLOCKED_PATHS EXTRA_WRITABLE_PATHS DENIED_WRITABLE_PATHS DEVICES DEVICES_BLACKLIST
    SUPPRESS_AGENT_WARNINGS SANDBOX_MODULES ENABLED_AGENTS NETWORK_BLOCKLIST NETWORK_BLOCKLIST_EXCEPT)
mapfile -t __as_names < <(compgen -v)
__as_known=" ${__as_names[*]} _PROJECT_DIR BASH_REMATCH MAPFILE REPLY COPROC BASH_ARGC BASH_ARGV FUNCNAME "
for __as_name in "${__as_lists[@]}"; do
    unset "$__as_name"
    declare -a "$__as_name"
    eval "$__as_name=(\$'\\x01')"
done
__as_print() {
    builtin trap - ERR EXIT DEBUG RETURN
    builtin set +eux
    IFS=$' \t\n'
    builtin printf 'run\0%s\0%s\0%s\0' "$__as_pattern" "${__as_whole-}" "${#__as_failed[@]}" >&"$__as_out"
    ((${#__as_failed[@]} == 0)) || builtin printf '%s\0' "${__as_failed[@]}" >&"$__as_out"
    builtin printf '%s\0' "${#__as_done[@]}" >&"$__as_out"
    ((${#__as_done[@]} == 0)) || builtin printf '%s\0' "${!__as_done[@]}" >&"$__as_out"
    for __as_name in $(builtin compgen -v); do
        [[ $__as_name != __as_* && $__as_known != *" $__as_name "* ]] || continue
        __as_flags=$(builtin declare -p "$__as_name" 2>/dev/null) || continue
        __as_flags=${__as_flags#declare }
        case ${__as_flags%% *} in
        *A*)
            eval "__as_keys=(\"\${!$__as_name[@]}\")"
            __as_values=()
            for __as_key in "${__as_keys[@]}"; do
                eval "__as_values+=(\"\$__as_key=\${$__as_name[\$__as_key]}\")"
            done
            __as_kind=list
            ;;
        *a*)
            eval "__as_values=(\"\${$__as_name[@]}\")"
            __as_kind=list
            ;;
        *)
            [[ -v $__as_name ]] || continue
            __as_values=("${!__as_name}")
            __as_kind=value
            ;;
        esac
        builtin printf 'variable\0%s\0%s\0%s\0' "$__as_name" "$__as_kind" "${#__as_values[@]}" >&"$__as_out"
        ((${#__as_values[@]} == 0)) || builtin printf '%s\0' "${__as_values[@]}" >&"$__as_out"
    done
    builtin printf 'end\0' >&"$__as_out"
}
for __as_word in '' "$@"; do
    (
        __as_failed=()
        declare -A __as_done=()
        __as_pattern=
        _PROJECT_DIR=/agent-sandbox/another/project
        # A word may name variables of the file: it is expanded after a first reading of them.
        if [[ -n $__as_word ]]; then
            __as_pattern=$(builtin source "$__as_conf" >/dev/null 2>&1; eval "builtin printf %s $__as_word")
            _PROJECT_DIR=${__as_pattern//\*/x}
            _PROJECT_DIR=${_PROJECT_DIR//\?/x}
        fi
        trap __as_print EXIT
        set -T
        trap '[[ $BASH_COMMAND != *=* || $BASH_COMMAND == __as_* ]] || __as_done[$LINENO:${BASH_COMMAND:0:80}]=1' DEBUG
        trap '[[ $BASH_COMMAND == "builtin source"* ]] || __as_failed+=("$LINENO:$BASH_COMMAND")' ERR
        builtin source "$__as_conf"
        __as_whole=1
    )
done
printf 'errors\0%s\0' "$(<"$__as_errors")" >&"$__as_out"
rm -f "$__as_errors"
)bash";

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool is_at_end() const { return at_ == text_.size() || is_broken_; }
    bool is_broken() const { return is_broken_; }

    std::string field() {
        size_t end = text_.find('\0', at_);
        if (end == std::string_view::npos) {
            is_broken_ = true;
            return {};
        }
        std::string_view found = text_.substr(at_, end - at_);
        at_ = end + 1;
        return std::string(found);
    }

    std::vector<std::string> fields() {
        std::string count = field();
        const std::optional<size_t> number = base::parse_number<size_t>(count);
        if (!number) is_broken_ = true;
        std::vector<std::string> all;
        for (size_t i = 0; number && i < *number && !is_broken_; ++i) all.push_back(field());
        return all;
    }

  private:
    std::string_view text_;
    size_t at_ = 0;
    bool is_broken_ = false;
};

bool is_untouched(const BashVariable& variable) {
    return variable.values.size() == 1 && variable.values.front() == kBefore;
}

BashVariable read_variable(Reader& reader) {
    BashVariable variable{.is_list = reader.field() == "list", .values = reader.fields()};
    auto before = std::ranges::find(variable.values, kBefore);
    if (before == variable.values.end() || is_untouched(variable)) return variable;
    variable.is_added_to = true;
    variable.values.erase(before);
    return variable;
}

BashRun read_run(Reader& reader) {
    BashRun run{.pattern = reader.field()};
    run.is_whole = reader.field() == "1";
    run.failed = reader.fields();
    run.assigned = reader.fields();
    while (!reader.is_at_end()) {
        std::string kind = reader.field();
        if (kind == "end") break;
        std::string name = reader.field();
        BashVariable variable = read_variable(reader);
        if (!is_untouched(variable)) run.variables.emplace(std::move(name), std::move(variable));
    }
    return run;
}

// "FILE: line 3: …": FILE is our temporary name, so remove it.
base::Error syntax_error(const std::string& text) {
    size_t line = text.find("line ");
    std::string_view shown = std::string_view(text).substr(line == std::string::npos ? 0 : line);
    return {.what = "bash can't read it: " + base::printable(base::trim(shown.substr(0, shown.find('\n'))))};
}

}  // namespace

std::string_view bash_script() {
    return kScript;
}

base::Result<BashEvaluation> parse_bash_evaluation(std::string_view printed) {
    Reader reader(printed);
    BashEvaluation evaluation;
    bool is_finished = false;
    while (!reader.is_at_end() && !is_finished) {
        std::string kind = reader.field();
        if (kind == "syntax") return syntax_error(reader.field());
        if (kind == "run") evaluation.runs.push_back(read_run(reader));
        is_finished = kind == "errors";
        if (is_finished) evaluation.errors = reader.field();
    }
    if (reader.is_broken() || !is_finished || evaluation.runs.empty())
        return base::Error{.what = "bash ended before it had printed the values"};
    return evaluation;
}

}  // namespace config
