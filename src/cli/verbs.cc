// SPDX-License-Identifier: MIT
#include "cli/verbs.h"

#include <algorithm>

#include "base/text.h"

namespace cli {
namespace {

// Verbs that are not listed are the last rows, so that verbs() is one span.
constexpr Verb kVerbs[] = {
    {.name = "run",
     .perform = run_verb,
     .usage = "[OPTIONS] [--] COMMAND [ARGS…]",
     .help = "run a command in the jail; the word itself may be left out",
     .takes_run_flags = true,
     .details = "Exit status: the command's own; 128+n after signal n; 125 when the jail could not be built "
                "and nothing ran;\n"
                "126 and 127 when the command can't be executed or is not there."},
    {.name = "plan",
     .perform = plan_verb,
     .usage = "[OPTIONS] [--] COMMAND [ARGS…]",
     .help = "show the jail as data, each item with reason and origin; run nothing",
     .flags = "--json",
     .takes_run_flags = true,
     .details = "Every file, variable and control with its reason and the place where it was written. Values "
                "of variables\n"
                "are never shown."},
    {.name = "why",
     .perform = why_verb,
     .usage = "path P [--write] | env NAME | host H[:PORT] | request METHOD URL | push HOST/REPOSITORY REF | "
              "credential NAME | ssh USER@HOST | syscall NAME | slurm [COMMAND] OPTION",
     .help =
         "say what decides about a path, a variable, a host, a request, a system call or an option of Slurm, "
         "and what would allow it",
     .words = "path @path|env @variable|host|request|push|credential @credential|ssh|syscall|slurm @slurm",
     .flags = "--write --json",
     .details = "The verdict, the rule that decides, where it was written, and the smallest change that "
                "would allow it.\n"
                "Exit status: 0 when it is allowed, 1 when it is not."},
    {.name = "policy",
     .perform = policy_verb,
     .usage = "[show] | draft [SESSION…]",
     .help = "show what is in force, inside a jail or here; or make a file for review from what was refused",
     .words = "show|draft @session",
     .flags = "--json",
     .details = "show   the rules in force, each with where it was written; inside a jail that jail's own\n"
                "draft  the smallest configuration that would allow what was refused or observed in these "
                "sessions, to be\n"
                "       read before it is used; without SESSION the newest"},
    {.name = "config",
     .perform = config_verb,
     .usage = "init | show | check [--admin] [FILE] | path | import [--admin] FILE",
     .help = "make, show, check or import configuration",
     .words = "init|show|check @path|path|import @path",
     .flags = "--origin --admin --json",
     .details =
         "init     writes a commented starting file for you, unless there is one\n"
         "show     the settings in effect here; --origin adds where each was written\n"
         "check    reads FILE, or all files that count here, and lists every mistake; exit status 1 with "
         "any;\n"
         "         --admin reads it as an administrator's ceiling, and says what that leaves to users\n"
         "path     the files that count here, in the order in which they are read\n"
         "import   prints a sandbox.conf of the bash predecessor, the settings of sandbox-runtime or the "
         "sandbox\n"
         "         section of Claude Code's as TOML, and lists what was left out; --admin for a ceiling"},
    {.name = "profiles",
     .perform = profiles_verb,
     .usage = "[show NAME]",
     .help = "list the agents that are known, or show what the profile of one says",
     .words = "show @profile",
     .flags = "--json",
     .details =
         "A profile says what an agent needs in the jail: its state, its log-in, its hosts. Your own go to\n"
         "~/.config/agent-sandbox/agents/NAME.toml. --agent NAME adds one, for instance behind a shell; "
         "--agent none takes none."},
    {.name = "secret",
     .perform = secret_verb,
     .usage =
         "add NAME [--command COMMAND… | --file PATH | --variable NAME | --keyring ATTR=VALUE…] | list | "
         "remove NAME | test NAME",
     .help = "keep the values of credentials, or where they come from, for --credential",
     .words = "add @credential|list|remove @credential|test @credential",
     .flags = "--command=COMMAND --file=PATH --variable=NAME --keyring=ATTR=VALUE --json",
     .details = "add     asks for the value without showing it, or reads standard input; with an option it "
                "stores the\n"
                "        source instead: a command and its arguments, a file, a variable of the shell that "
                "starts a\n"
                "        session, or attributes of the desktop's keyring\n"
                "list    names, sources and hosts, and where each was written; never a value\n"
                "remove  forgets the value or the source that add stored\n"
                "test    gets the value, compares it with the usual form, and makes a harmless request from "
                "a jail; exit status 1\n"
                "        if that fails"},
    {.name = "trust",
     .perform = trust_verb,
     .usage = "[DIRECTORY]",
     .help = "accept the project's own file as it is now",
     .words = "@directory",
     .details = "A project's .agent-sandbox.toml may only narrow what you allow. Once trusted, this very "
                "content may widen it,\n"
                "too; a changed file has to be trusted again. What it widens is printed."},
    {.name = "untrust",
     .perform = untrust_verb,
     .usage = "[DIRECTORY]",
     .help = "forget that the project's own file was accepted",
     .words = "@directory"},
    {.name = "doctor",
     .perform = doctor_verb,
     .usage = "[--admin-note]",
     .help = "say what this machine can enforce, and how to get what it can't",
     .flags = "--admin-note --json",
     .details = "Each backend and each control with the level that it reaches here, and the exact remedy for "
                "what is missing.\n"
                "--admin-note  prints a letter to the administrator instead, the narrowest remedy first\n"
                "Exit status: 0 when a jail can be built here, 1 when it can't."},
    {.name = "selftest",
     .perform = selftest_verb,
     .usage = "[GROUP…] [PROBE…] [--list] [--in-home] [--through-exec]",
     .help = "try to break out of a real jail in every known way, and say what held",
     .words = "@group @group",
     .flags = "--list --in-home --through-exec --json",
     .details =
         "Every probe is tried outside first, where it must succeed, and then in a real jail. All is done in "
         "a scratch\n"
         "directory, also below --project DIR; it and everything else that was made is removed again.\n"
         "GROUP or PROBE  only these; --list shows them and what each attempts\n"
         "--backend B     with this backend\n"
         "--in-home       plants in the home directory itself, for an account made for the test\n"
         "--through-exec  adds the attempts to a running session, as 'exec' does\n"
         "Exit status: 0 when all held, 1 when one escaped or could not be judged."},
    {.name = "ps",
     .perform = ps_verb,
     .help = "list the sessions that run",
     .flags = "--json",
     .hidden_flags = "--ids",
     .details = "An id may be shortened everywhere, to four digits or more, as long as one session has it."},
    {.name = "inspect",
     .perform = inspect_verb,
     .usage = "[SESSION]",
     .help = "show one session: what it is, its limits, connections, questions and live changes",
     .words = "@session",
     .flags = "--json",
     .details = "Without SESSION the only one that runs."},
    {.name = "stop",
     .perform = stop_verb,
     .usage = "SESSION… [--now]",
     .help = "end sessions",
     .words = "@session @session",
     .flags = "--now",
     .details = "The command is asked to end and may tidy up.\n"
                "--now  kills at once\n"
                "Exit status: 0 when all have ended, 1 when one still runs after 10 seconds."},
    {.name = kExecVerb,
     .perform = exec_verb,
     .usage = "[SESSION] [--env NAME[=VALUE]] [--cwd DIR] [-T] [--json] [-- COMMAND [ARGS…]]",
     .help = "run one more command in a running session; without COMMAND a shell",
     .words = "@session",
     .flags = "--cwd=DIR --streams --json",
     .details =
         "The command has every restriction of the session. Without SESSION it is the only one of this "
         "project, or the\n"
         "only one that runs. On a terminal the command gets a terminal of its own.\n"
         "--env NAME     passes this variable; NAME=VALUE sets it. The session's env.block holds\n"
         "--cwd DIR      starts there, relative to the session's working directory\n"
         "-T, --streams  passes the standard streams as they are, also on a terminal\n"
         "--json         prints one object when the command has ended: its status, output and duration, and "
         "what the\n"
         "               session refused meanwhile; of each stream at most 256 KiB\n"
         "It ends with this program, with the session, and at the latest with the session's own command.\n"
         "Exit status: the command's own; 128+n after signal n; 125 when the session does not exist "
         "or refuses;\n"
         "126 when the command can't be executed, 127 when it does not exist."},
    {.name = "mcp",
     .perform = mcp_verb,
     .usage = "",
     .help = "offer a jail to a client of the Model Context Protocol, on standard input and output",
     .details = "agent-sandbox [OPTIONS] mcp: one server, one session. Tools: run, read, write, why, and "
                "changes with --cow.\n"
                "It ends with its standard input. Nothing that steers the jail is a tool.\n"
                "Exit status: 0; 125 when the jail could not be built, or has ended before the client."},
    {.name = kAttachVerb,
     .perform = attach_verb,
     .usage = "[SESSION] [--take]",
     .help = "connect a session that was started with --detach to this terminal",
     .words = "@session",
     .flags = "--take",
     .details =
         "The last output is shown again, and a full-screen program redraws. Ctrl-] d detaches "
         "(detach.keys); the session\n"
         "goes on. Without SESSION it is the only detached one of this project, or the only one.\n"
         "--take  detaches another terminal first\n"
         "Exit status: the command's own when the session ends; 0 after the detach keys; 1 when another "
         "terminal takes the\n"
         "session; 125 when the session does not exist or refuses."},
    {.name = "allow",
     .perform = allow_verb,
     .usage = "HOST | REQUEST [--session ID]",
     .help = "let a running session reach a host, or make a request",
     .flags = "--session=ID",
     .details = "HOST is what --allow-host takes, REQUEST an entry of requests.allow or requests.git in "
                "quotes. It counts for this session until it ends; no file is changed.\n"
                "--session ID  which one; without it the only one that runs"},
    {.name = "block",
     .perform = block_verb,
     .usage = "HOST | REQUEST [--session ID]",
     .help = "forbid a running session a host, or a request; open connections to the host are closed",
     .flags = "--session=ID",
     .details = "HOST is what --block-host takes, REQUEST an entry of requests.block in quotes. It counts "
                "for this session until it ends; no file is changed.\n"
                "--session ID  which one; without it the only one that runs"},
    {.name = "reload",
     .perform = reload_verb,
     .usage = "[--session ID]",
     .help = "have a running session read its policy files again",
     .flags = "--session=ID",
     .details = "All files count or, where one of them has a mistake, none. Settings that need a new start "
                "are named.\n"
                "--session ID  which one; without it the only one that runs"},
    {.name = "publish",
     .perform = publish_verb,
     .usage = "PORT | HOST:JAIL [SESSION] [--end]",
     .help = "show a port of a running session on the host's loopback",
     .flags = "--end",
     .details =
         "127.0.0.1:PORT of the host leads to port PORT of the jail, or HOST to JAIL, until the session "
         "ends. ps lists\n"
         "the ports. Without SESSION the only one that runs.\n"
         "--end  closes the port again, and its connections"},
    {.name = "pending",
     .perform = pending_verb,
     .usage = "[--session ID] [--follow]",
     .help = "list the questions that sessions wait for an answer to",
     .flags = "--session=ID --follow --json",
     .details = "With --ask a session holds a connection to a host that no rule knows, and asks here. So it "
                "does with\n"
                "a request that requests.ask names.\n"
                "--session ID  only the questions of this one\n"
                "--follow      goes on and prints each new question as a line"},
    {.name = "approve",
     .perform = approve_verb,
     .usage = "[ID] [--session ID] [--once]",
     .help = "answer a question with yes; without ID the oldest",
     .flags = "--session=ID --once",
     .details = "The host and port, or this method and path, are allowed for the rest of the session.\n"
                "--once        only the request that waits\n"
                "--session ID  which one, where several have questions"},
    {.name = "deny",
     .perform = deny_verb,
     .usage = "[ID] [--session ID] [--reason TEXT]",
     .help = "answer a question with no; without ID the oldest",
     .flags = "--session=ID --reason=TEXT",
     .details = "The host and port, or this method and path, are refused for the rest of the session.\n"
                "--session ID   which one, where several have questions\n"
                "--reason TEXT  is told to the agent"},
    {.name = "monitor",
     .perform = monitor_verb,
     .usage = "[--once]",
     .help = "watch sessions, connections, refusals and limits on one screen",
     .flags = "--once --json",
     .details = "Keys: up and down or k and j select, a and d answer the oldest question, s ends the "
                "session, ? helps, q leaves.\n"
                "--once  prints the screen once; with --json what all sessions say of themselves"},
    {.name = "log",
     .perform = log_verb,
     .usage = "[SESSION] [--follow] [--denied] [--verify]",
     .help = "show what a session did; without SESSION the newest",
     .words = "@session",
     .flags = "--follow --denied --verify --json",
     .details =
         "SESSION is an id, the beginning of one, last, or the path of a record. Times are UTC.\n"
         "--follow  goes on while the session runs\n"
         "--denied  only what was refused, or would have been\n"
         "--verify  checks the chain of hashes (audit.chain) instead; exit status 1 when it does not hold\n"
         "--json    the lines as they were recorded"},
    {.name = "digest",
     .perform = digest_verb,
     .usage = "[SESSION] | --not-needed WHAT | --needed WHAT",
     .help = "show what was refused in a session, by cause, and what would allow it",
     .words = "@session",
     .flags = "--not-needed=WHAT --needed=WHAT --json",
     .details = "Each with how often, the rule, and the smallest change that would allow it.\n"
                "--not-needed WHAT  leaves it out from now on, in the project here; WHAT as it is shown\n"
                "--needed WHAT      shows it again"},
    {.name = "keep",
     .perform = keep_verb,
     .usage = "[PATH…] [--to DIR] [--force] [--session ID]",
     .help = "list or bring back what a session wrote beside the project, for an hour after its end",
     .words = "@path",
     .flags = "--to=DIR --force --session=ID",
     .details =
         "A private home directory ends with its session. Without PATH the discarded files are listed; "
         "with PATH\n"
         "they are copied to that path, where the command believed that they were. keep ~ copies all.\n"
         "Files that the host would run by themselves are left out and named: start-up files, hooks, "
         "protected names.\n"
         "--to DIR      copies into this directory instead\n"
         "--force       replaces existing files\n"
         "--session ID  which one; without it the last that discarded something\n"
         "Exit status: 0, or 1 when something was left out."},
    {.name = "release",
     .perform = release_verb,
     .usage = "[PATH | ID] [--yes] [--remove]",
     .help = "list what was moved out of projects when a session ended, or put it back after a look",
     .words = "@path",
     .flags = "--yes --remove --json",
     .details =
         "A session may leave a file at a protected name, such as .envrc, for a tool that you do not have\n"
         "(project.hold). It is moved out of the project when the session ends, and kept for 30 days.\n"
         "PATH, ID  shows what is in it and what would run it, asks, and puts it back; never over something\n"
         "--yes     does not ask\n"
         "--remove  removes it for good instead"},
    {.name = "layers",
     .perform = layers_verb,
     .help = "list what copy-on-write sessions wrote, as long as it is not discarded",
     .flags = "--json",
     .details = "A session with --cow writes to a layer instead of the project. The list has the name of "
                "each layer, "
                "its\n"
                "state (running, waiting, half applied, applied), its age, its project and its changes."},
    {.name = "diff",
     .perform = diff_verb,
     .usage = "[LAYER] [PATH…]",
     .help = "show what a layer changes in its project, as a patch in git's format",
     .words = "@path @path",
     .flags = "--stat --names --deleted --binary --exit-code --ignored --checkpoint=NUMBER --json",
     .details =
         "LAYER is a name, or four or more digits of the session's id. It may be left out where one layer "
         "belongs\n"
         "to the project here. Deletions come first. In a pipe the patch suits git: agent-sandbox diff | git "
         "apply\n"
         "--stat       lines that each file gains and loses\n"
         "--names      names only, with what is held back or in conflict\n"
         "--deleted    the names of all deleted files\n"
         "--binary     the content of binary files, also on a terminal\n"
         "--exit-code  exit status 1 where the layer changes something\n"
         "--ignored    also files that git ignores\n"
         "--checkpoint NUMBER  shows that state of the layer"},
    {.name = "apply",
     .perform = apply_verb,
     .usage = "[LAYER] [PATH…] [--select] [--held PATH] [--theirs PATH] [--merge] [--to-branch NAME] | "
              "--undo | --resume",
     .help = "write the changes of a layer to its project, all or some",
     .words = "@path @path",
     .flags = "--select --ignored --held=PATH --theirs=PATH --merge --to-branch=NAME --message=TEXT "
              "--dry-run --undo "
              "--resume",
     .details =
         "All changes are applied, or none. Files that changed outside since the session started are in "
         "conflict and\n"
         "stop it. Names that programs outside run, and links that leave the project, are held back.\n"
         "--select       shows each change and asks\n"
         "--ignored      applies files that git ignores, too\n"
         "--held PATH    applies this, too, although it is held back\n"
         "--theirs PATH  takes the file of the layer where both changed\n"
         "--merge        takes both changes of a file that is in conflict, where they touch different lines\n"
         "--to-branch NAME  makes a branch with one commit instead, and changes no file; --message is its "
         "text\n"
         "--dry-run      lists what would be written\n"
         "--undo         takes the last apply back, with the files as they were\n"
         "--resume       finishes an apply that was interrupted\n"
         "Exit status: 0, or 1 when something is in conflict and nothing was applied."},
    {.name = "discard",
     .perform = discard_verb,
     .usage = "[LAYER] [--yes]",
     .help = "remove a layer with everything in it",
     .words = "@path",
     .flags = "--yes",
     .details = "--yes  does not ask"},
    {.name = "checkpoint",
     .perform = checkpoint_verb,
     .usage = "[LAYER] [--message TEXT]",
     .help = "save the present state of a layer, also of a running session",
     .words = "@path",
     .flags = "--message=TEXT",
     .details = "--message TEXT  names it: it is kept when there are more than 20"},
    {.name = "rollback",
     .perform = rollback_verb,
     .usage = "[LAYER] [NUMBER] | --list [LAYER]",
     .help = "take a layer back to a checkpoint, the last one or NUMBER, also of a running session",
     .words = "@path",
     .flags = "--list",
     .details = "The state before is saved first, as a further checkpoint.\n"
                "--list  shows the checkpoints"},
    {.name = "request",
     .perform = ask_verb,
     .usage = "host HOST[:PORT] | path P | env NAME --because TEXT [--wait]",
     .help = "inside a jail: ask the user to open a host, a path or a variable",
     .words = "host|path @path|env @variable",
     .flags = "--because=TEXT --wait --json",
     .details =
         "The question appears outside in pending and monitor, and rings the user's terminal. The user "
         "answers with approve\n"
         "or deny. A host is open at once, until the session ends. A path can be read, and a variable is "
         "passed, from the\n"
         "next session in the project on. The same request again shows the answer, once there is one.\n"
         "--because TEXT  why it is needed; the user reads it\n"
         "--wait          waits for the answer\n"
         "Exit status: 0 when it is allowed or the question is filed, 1 when it is refused."},
    {.name = "notify",
     .perform = notify_verb,
     .usage = "TEXT…",
     .help = "ring the user's terminal, from inside a jail or outside",
     .details = "A bell, and the text where the terminal or tmux shows notices; at most one in a second. "
                "Only plain text of it\n"
                "is shown, in one line. Inside a jail the program is /run/agent-sandbox/agent-sandbox.\n"
                "Exit status: 0, or 1 when there is no terminal to ring."},
    {.name = "slurm-log",
     .perform = slurm_log_verb,
     .usage = "[JOB]",
     .help = "inside a jail: what its session asked of Slurm, and why a job did not start",
     .details = "JOB is a job of this project: only the jail's messages about it are shown, those why it did "
                "not start."},
    {.name = "slurm-script",
     .perform = slurm_script_verb,
     .usage = "JOB | FILE | -",
     .help = "print the script of a Slurm job, which is base64 to Slurm and its plug-ins",
     .words = "@path",
     .details = "JOB is asked of scontrol, which shows a script to its owner and to administrators. FILE, or "
                "standard input\n"
                "with -, is the file as Slurm has it: a job_submit plug-in passes it in a pipe."},
    {.name = "completion",
     .perform = completion_verb,
     .usage = "bash | zsh | fish",
     .help = "print completion for a shell",
     .words = "bash|zsh|fish",
     .details =
         "bash  mkdir -p ~/.local/share/bash-completion/completions &&\n"
         "      agent-sandbox completion bash > ~/.local/share/bash-completion/completions/agent-sandbox\n"
         "zsh   agent-sandbox completion zsh > _agent-sandbox, in a directory of $fpath\n"
         "fish  mkdir -p ~/.config/fish/completions &&\n"
         "      agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish"},
    {.name = "help",
     .perform = help_verb,
     .usage = "[VERB | TOPIC]",
     .help = "explain the program, one of its verbs or a topic",
     .words = "@topic|@verb",
     .hidden_flags = "--reference --manual",
     .details = "help settings lists what a configuration file can say.\n"
                "help backends shows what each backend (native, bwrap, firejail, landlock) reaches, and "
                "which network\n"
                "modes it offers."},
    {.name = "version", .perform = version_verb, .help = "print the version"},
    {.name = "__complete",
     .perform = complete_verb,
     .usage = "bash | zsh | fish -- WORD…",
     .help = "answer a shell that completes a command line",
     .is_hidden = true},
    {.name = "__request",
     .perform = request_verb,
     .usage = "NAME METHOD PATH",
     .help = "make a request with a credential, from inside a jail",
     .is_hidden = true},
};
static_assert(std::ranges::is_partitioned(kVerbs, [](const Verb& verb) { return !verb.is_hidden; }));

void add_flags(std::vector<VerbFlag>& flags, std::string_view words) {
    if (words.empty()) return;
    for (std::string_view word : base::split(words, ' ')) {
        size_t equals = word.find('=');
        bool has_value = equals != std::string_view::npos;
        flags.push_back({word.substr(0, equals), has_value ? word.substr(equals + 1) : std::string_view()});
    }
}

}  // namespace

std::span<const Verb> verbs() {
    return {kVerbs, std::ranges::find_if(kVerbs, &Verb::is_hidden)};
}

const Verb* find_verb(std::string_view name) {
    const Verb* verb = std::ranges::find(kVerbs, name, &Verb::name);
    return verb == std::end(kVerbs) ? nullptr : verb;
}

std::string usage_of(std::string_view name) {
    std::string usage = base::format("usage: agent-sandbox {}", name);
    if (const Verb* verb = find_verb(name); verb && !verb->usage.empty()) {
        usage += base::format(" {}", verb->usage);
    }
    return usage;
}

std::vector<VerbFlag> flags_of(const Verb& verb) {
    std::vector<VerbFlag> flags;
    add_flags(flags, verb.flags);
    return flags;
}

std::vector<VerbFlag> accepted_flags_of(const Verb& verb) {
    std::vector<VerbFlag> flags = flags_of(verb);
    add_flags(flags, verb.hidden_flags);
    return flags;
}

}  // namespace cli
