// SPDX-License-Identifier: MIT
#include "config/settings.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"

namespace config {
namespace {

using enum Type;
using enum Order;

constexpr bool kStatic = false;
constexpr bool kDynamic = true;

// Lists whose default is "@name" come from share/NAME.list, which has a reason for each entry.
constexpr Setting kSettings[] = {
    {"project.parents", path_list, parents_narrow, "", "", "/", kStatic,
     "directories below which a project may lie"},
    {"project.root", choice, choices_ascend, "", "repository|directory", "directory", kStatic,
     "the project of a start below the top of a git repository: the current directory, or the whole "
     "repository"},
    {"project.read_only", boolean, true_is_strict, "--read-only", "", "false", kStatic,
     "the project can be read, not written: for reviews"},
    {"project.protect", project_list, list_restricts, "", "", "@project/protect", kStatic,
     "paths in the project that stay read-only; project.hold decides about missing ones"},
    {"project.unprotect", project_list, list_grants, "", "", "", kStatic,
     "built-in entries of project.protect to leave writable"},
    {"project.hold", choice, choices_ascend, "", "installed|all", "installed", kStatic,
     "for which tools a missing path of project.protect can't be created: those that you have, or all; for "
     "the others it is moved out of the project when the session ends"},
    {"project.mask", project_list, list_restricts, "", "", "@project/mask", kStatic,
     "files in the project that read as empty"},
    {"project.unmask", project_list, list_grants, "", "", "@project/unmask", kStatic,
     "files that project.mask would cover and that stay readable"},
    {"project.mask_with", choice, neutral, "", "empty|example", "empty", kStatic,
     "what a masked file shows: nothing, or the content of the example beside it, such as .env.example"},

    {"cow.enabled", boolean, true_is_strict, "--cow", "", "false", kStatic,
     "what the command writes in the project goes to a layer of changes; diff shows it, apply writes it to "
     "the project"},
    {"cow.layer", text, trusted, "--layer", "", "", kStatic,
     "a name for the layer, which turns cow.enabled on; a layer of that name that no session uses is "
     "continued"},
    {"cow.engine", choice, trusted, "--cow-engine", "auto|overlay|clone", "auto", kStatic,
     "what a new layer is: an overlay of the kernel, a clone (a copy of the whole project), or the first of "
     "both that is possible; with clone its size has no limit"},
    {"cow.protect", choice, choices_ascend, "", "apply|inside", "apply", kStatic,
     "names of project.protect can be changed in a layer, and apply holds them back; or they can't be "
     "changed "
     "inside either"},
    {"cow.storage", path, trusted, "", "", "", kStatic,
     "the directory for the files of new layers; without it they are in the state directory"},
    {"cow.at_end", choice, choices_ascend, "", "apply|ask|keep|discard", "ask", kStatic,
     "what happens to a layer at the end of the session: apply what is neither held back nor in conflict, "
     "ask on a terminal, keep it, or discard it (not from a project file)"},
    {"cow.keep", duration, trusted, "", "", "30d", kStatic,
     "how long an applied layer and the originals of its files are kept"},

    {"home.access", choice, choices_ascend, "--home", "write|read|tmpwrite|restricted", "tmpwrite", kStatic,
     "what of the home directory is seen and kept"},
    {"home.readonly", home_list, list_grants, "", "", "@home/readonly", kStatic,
     "paths in the home directory that can be read"},
    {"home.writable", home_list, list_grants, "", "", "", kStatic,
     "paths in the home directory that can be written and are kept; missing ones are made"},
    {"home.seeded", home_list, list_grants, "", "", "@home/seeded", kStatic,
     "files of the home directory given as private copies, without the secrets of credential helpers; "
     "changes are discarded"},
    {"home.unprotect", home_list, list_grants, "", "", "", kStatic,
     "start-up files and program directories of the home directory to leave writable where what is around "
     "them is"},

    {"home.caches", boolean, false_is_strict, "", "", "true", kStatic,
     "caches of package managers are kept for each project, apart from the user's own"},

    {"mounts.readonly", path_list, list_grants, "--ro", "", "", kStatic,
     "more files and directories that can be read"},
    {"mounts.approved", path_list, list_grants, "", "", "", kStatic,
     "paths that agents asked for and that you approved: readable, as long as each still exists and no "
     "symbolic link is on the way to it"},
    {"mounts.writable", path_list, list_grants, "--rw", "", "", kStatic,
     "more files and directories that can be written"},
    {"mounts.hidden", path_list, list_restricts, "--hide", "", "", kStatic,
     "files and directories that are hidden, also inside something visible"},
    {"mounts.deny_writable", path_list, admin_only, "", "", "", kStatic,
     "paths that nothing may make writable, the project and the home directory included"},

    {"sockets.allow", path_list, list_grants, "--socket", "", "", kStatic,
     "Unix sockets of the host that can be reached"},
    {"sockets.allow_dangerous", path_list, list_grants, "--dangerous-socket", "", "", kStatic,
     "sockets of docker, D-Bus, systemd, ssh-agent and similar: a process that reaches one acts outside the "
     "jail"},

    {"env.mode", choice, choices_ascend, "", "inherit|clean", "clean", kStatic,
     "clean passes the variables on a list, inherit passes all but the blocked ones"},
    {"env.allow", name_list, list_grants, "--env", "", "", kStatic,
     "variables that pass although a list or a pattern holds them back"},
    {"env.set", assignments, list_grants, "", "", "", kStatic, "variables to set in the jail"},
    {"env.block", name_list, list_restricts, "", "", "@environment/block", kStatic,
     "variables that never pass"},
    {"env.block_patterns", pattern_list, list_restricts, "", "", "@environment/block_patterns", kStatic,
     "patterns of variable names that never pass; a trailing /i ignores case"},

    {"isolation.backend", choice, trusted, "--backend", "auto|native|bwrap|firejail|landlock", "auto",
     kStatic,
     "what builds the jail; auto takes the best that this machine can have: agent-sandbox itself (native), "
     "bubblewrap, firejail, Landlock alone"},
    {"isolation.bwrap", path, trusted, "", "", "", kStatic,
     "the bubblewrap program to use instead of the one found in the system directories; where it is set, "
     "auto "
     "takes bubblewrap before native"},
    {"isolation.firejail", path, trusted, "", "", "", kStatic,
     "the firejail program to use instead of the one found in the system directories"},
    {"isolation.require", choice, choices_ascend, "--require", "absent|auto|cooperative|denied|hidden",
     "auto", kStatic,
     "the weakest level of a control that a run may start with; auto asks for denied in files, credentials, "
     "processes, privileges, system calls, environment, network and Slurm, and tells of the others"},
    {"isolation.require_each", level_list, list_restricts, "", "", "", kStatic,
     "levels of single controls that a run must reach: \"temporary files=hidden\""},
    {"isolation.private_tmp", boolean, true_is_strict, "", "", "true", kStatic,
     "/tmp and /var/tmp belong to the jail alone"},
    {"isolation.private_ipc", boolean, true_is_strict, "", "", "true", kStatic,
     "/dev/shm, System V and POSIX message queues belong to the jail alone"},
    {"isolation.filter_passwd", boolean, true_is_strict, "", "", "true", kStatic,
     "the jail shows the accounts of the system and of the caller, not those of other users"},

    {"isolation.allow_nested_namespaces", boolean, false_is_strict, "", "", "false", kStatic,
     "programs may make namespaces and mounts of their own: for agents and containers that nest"},
    {"isolation.allow_ptrace", boolean, false_is_strict, "", "", "true", kStatic,
     "programs may trace each other inside the jail: debuggers, and MPI between ranks"},
    {"isolation.allow_perf", boolean, false_is_strict, "", "", "false", kStatic,
     "programs may read the kernel's performance counters"},
    {"isolation.allow_keyrings", boolean, false_is_strict, "", "", "false", kStatic,
     "programs may use the kernel's keyrings: for sites with Kerberos tickets in them"},

    {"limits.processes", integer, lower_is_strict, "", "", "0", kStatic,
     "how many processes and threads; 0 means no limit"},
    {"limits.memory", size, lower_is_strict, "", "", "0", kStatic, "how much memory; 0 means no limit"},
    {"limits.open_files", integer, lower_is_strict, "", "", "0", kStatic,
     "how many descriptors a process may have; 0 means no limit"},
    {"limits.file_size", size, lower_is_strict, "", "", "0", kStatic,
     "how large a file may grow; 0 means no limit"},
    {"limits.wall_time", duration, lower_is_strict, "", "", "0", kStatic,
     "how long a session may last; 0 means no limit"},
    {"limits.idle_time", duration, lower_is_strict, "", "", "0", kStatic,
     "how long a session may do nothing; 0 means no limit"},

    {"devices.gpu", choice, choices_ascend, "--gpu", "on|auto|off", "auto", kStatic,
     "graphics processors: auto allows those that exist, on requires one"},
    {"devices.allow", path_list, list_grants, "--device", "", "", kStatic,
     "device nodes that can be used; patterns are resolved at launch"},
    {"devices.deny", path_list, list_restricts, "", "", "", kStatic,
     "device nodes that are never allowed; wins over devices.allow"},

    {"network.mode", choice, choices_ascend, "--network", "open|filtered|proxied|isolated", "filtered",
     kStatic, "what of the network can be reached"},
    {"network.fallback", choice, choices_ascend, "", "open|stricter|strict", "stricter", kStatic,
     "what happens where the mode can't be had"},
    {"network.block", rule_list, list_restricts, "--block-host", "", "", kDynamic,
     "hosts, networks and ports that are refused"},
    {"network.allow", rule_list, list_grants, "--allow-host", "", "", kDynamic,
     "hosts, networks and ports that are let through"},
    {"network.private", rule_list, list_grants, "", "", "", kDynamic,
     "private networks of the site that can be reached, such as 10.20.0.0/16"},
    {"network.literals", choice, choices_ascend, "", "allow|deny", "deny", kStatic,
     "addresses without a name: deny refuses those that no rule opens, since they lead around every rule "
     "about names"},
    {"network.udp", rule_list, list_grants, "", "", "", kDynamic,
     "hosts and networks with ports that are let through for UDP"},
    {"network.dns_types", name_list, list_grants, "", "", "", kDynamic,
     "types of DNS records that are answered beyond A, AAAA and PTR, such as MX, TXT and SRV"},
    {"network.host_services", rule_list, list_grants, "--host-port", "", "", kDynamic,
     "services of the host: a port of its loopback, which is 127.0.0.1 and "
     "host.agent-sandbox.internal inside too, or an address and a port of a private network"},
    {"network.publish", rule_list, list_grants, "--publish", "", "", kStatic,
     "ports of the jail that the host's loopback shows: 8080, or 8080:80 for the jail's port 80"},
    {"network.upstream_proxy", text, trusted, "", "", "", kStatic,
     "the site's HTTP proxy; without it the host's proxy variables are used, and none turns that off"},
    {"network.mail_block", choice, choices_ascend, "", "off|auto|on", "auto", kStatic,
     "whether mailers are stubs: auto makes them so unless the network is open, on refuses an open network; "
     "the mail ports are the floor's"},
    {"network.ask", boolean, trusted, "--ask", "", "false", kStatic,
     "a host that no rule names waits until it is approved or denied in another terminal"},
    {"network.ask_time", duration, trusted, "", "", "2m", kStatic,
     "how long such a host waits for its answer before it is refused"},
    {"network.observe", boolean, false_is_strict, "--observe", "", "false", kStatic,
     "let through and record what the policy would refuse, but for what the administrator or the floor "
     "closes: to "
     "learn what a command needs"},

    {"requests.allow", text_list, list_grants, "", "", "", kDynamic,
     "requests that are permitted, as \"METHODS HOST/PATH\" or \"@list\"; a host that an entry names gets no "
     "others"},
    {"requests.ask", text_list, list_restricts, "", "", "", kDynamic,
     "requests that wait for an approval in another terminal (pending, approve, deny)"},
    {"requests.block", text_list, list_restricts, "", "", "", kDynamic,
     "requests that are refused, as \"METHODS HOST/PATH\" or \"@list\""},
    {"requests.git", text_list, list_grants, "", "", "", kDynamic,
     "what git may do over HTTPS: \"fetch HOST/REPOSITORY\", \"push HOST/REPOSITORY REFS\""},
    {"requests.opaque", text_list, list_grants, "", "", "", kDynamic,
     "hosts whose connections are not decrypted, although a credential or a rule names them: they get "
     "neither"},
    {"requests.observe", boolean, false_is_strict, "", "", "false", kDynamic,
     "let through and record requests that the rules would refuse, but for those that the administrator "
     "refuses"},

    {"credentials.use", name_list, list_grants, "--credential", "", "", kStatic,
     "secrets that the gateway puts into requests; the jail has a placeholder instead"},
    {"credentials.login", choice, choices_ascend, "--login", "inside|outside", "inside", kStatic,
     "where the log-in of an agent is: inside shows its own file; outside puts the tokens into requests, and "
     "the jail has placeholders"},
    {"credentials.intercept", choice, choices_ascend, "", "on|off", "on", kStatic,
     "on decrypts connections to the hosts of credentials and request rules; off serves only clients with a "
     "base URL"},
    {"credentials.never_inside", pattern_list, list_restricts, "", "", "", kStatic,
     "patterns of variable names that --env and env.allow can't pass; a trailing /i ignores case"},

    {"ssh.keys", path_list, list_grants, "", "", "", kStatic,
     "public keys (.pub) with which your ssh-agent may sign for the jail; the private keys stay outside"},
    {"ssh.hosts", text_list, list_grants, "", "", "", kStatic,
     "logins that these keys may sign, as \"USER@HOST\" or \"USER@HOST:PORT\"; the host's key must be in "
     "your "
     "known_hosts"},
    {"ssh.sign", name_list, list_grants, "", "", "", kStatic,
     "namespaces of signatures of files that these keys may make: git for signed commits"},
    {"ssh.ask", boolean, true_is_strict, "", "", "false", kStatic,
     "each signature waits until it is approved or denied in another terminal"},
    {"ssh.unbound", choice, choices_ascend, "", "ask|refuse", "refuse", kStatic,
     "a login of a client that does not tell the agent its host (OpenSSH before 8.9, libssh2, paramiko): ask "
     "in another terminal each time, or refuse"},

    {"agents.use", name_list, trusted, "--agent", "", "auto", kStatic,
     "the agents whose profiles count; auto is the agent that the command starts, none drops those named "
     "before it"},
    {"agents.per_project_state", boolean, true_is_strict, "", "", "false", kStatic,
     "an agent keeps its state for each project apart: none reads the history of another"},
    {"agents.notice", boolean, trusted, "", "", "true", kStatic,
     "an agent gets a notice that it runs in a jail, what is closed, and how to ask"},

    {"slurm.mode", choice, choices_ascend, "--slurm", "auto|off", "auto", kStatic,
     "Slurm's commands inside the jail: auto gives them where the host has them, and every job runs in a "
     "jail of its own"},
    {"slurm.scope", choice, choices_ascend, "", "none|user|project|session", "project", kStatic,
     "which of the user's Slurm jobs can be seen from the jail"},
    {"slurm.network", choice, trusted, "", "session|open|filtered|proxied|isolated", "session", kStatic,
     "the network of jobs: that of the session, or another; ranks on several nodes need open"},
    {"slurm.program", path, trusted, "", "", "", kStatic,
     "where the nodes have this program, if not where it is here"},
    {"slurm.spank_options", name_list, list_grants, "", "", "", kStatic,
     "options of sbatch, srun and salloc that plug-ins of the site add (SPANK): --name, --name= if it takes "
     "a value, --name[=] if the value may be missing"},

    {"modules.load", name_list, list_grants, "--module", "", "", kStatic,
     "modules of the site (Lmod, Environment Modules) that are loaded for the command"},
    {"modules.command", path, trusted, "", "", "", kStatic,
     "the site's module command, where it is not found; one that the administrator names may belong to "
     "another than root"},

    {"audit.enabled", boolean, true_is_strict, "", "", "true", kStatic,
     "what a session did is recorded, outside the jail"},
    {"audit.chain", boolean, true_is_strict, "", "", "false", kStatic,
     "every line of the record holds the hash of the one before, which log --verify checks"},
    {"audit.size", size, trusted, "", "", "64M", kStatic,
     "how large the record of a session may grow; then the oldest part but the first is dropped"},
    {"audit.paths", boolean, trusted, "", "", "true", kStatic,
     "the record contains the paths of requests; their queries are never in it"},
    {"audit.keep", duration, trusted, "", "", "720h", kStatic, "how long records are kept"},

    {"trace.files", boolean, trusted, "--trace-files", "", "false", kStatic,
     "record which hidden or read-only files the command asked for; slows it down, and signals may interrupt "
     "calls"},
    {"trace.commands", boolean, trusted, "--trace-commands", "", "false", kStatic,
     "record every program that is started in the jail, with arguments, directory, status and duration; "
     "a signal may interrupt its start"},
    {"trace.system_calls", boolean, trusted, "--trace-syscalls", "", "false", kStatic,
     "record which refused system calls were tried"},

    {"detach.keys", text, trusted, "", "", "ctrl-] d", kStatic,
     "the keys that leave an attached session, in their order"},

    {"ui.quiet", boolean, trusted, "--quiet", "", "false", kStatic,
     "no information at start and end; warnings about protection and errors stay"},
    {"ui.verbose", boolean, trusted, "--verbose", "", "false", kStatic, "say more about what was decided"},

    {"lock", name_list, admin_only, "", "", "", kStatic, "settings whose administrator's value is final"},
};

// The settings of the [agent] section; everything else in a profile is an ordinary setting.
constexpr Setting kProfileSettings[] = {
    {"agent.title", text, neutral, "", "", "", kStatic, "the agent's name for people"},
    {"agent.commands", name_list, neutral, "", "", "", kStatic, "names of the program"},
    {"agent.packages", name_list, neutral, "", "", "", kStatic,
     "packages that hold it, as npx and a path through node_modules name them"},
    {"agent.state", home_list, list_grants, "", "", "", kStatic,
     "directories that it keeps its state in; writable, kept, made where missing"},
    {"agent.kept", home_list, neutral, "", "", "", kStatic,
     "files that it gets as a copy of the sandbox's own, kept from session to session: they hold what would "
     "run outside, beside what it must remember"},
    {"agent.tokens", home_list, neutral, "", "", "", kStatic,
     "files with its own log-in, written through also where every project has its own state"},
    {"agent.login_credentials", text_list, neutral, "", "", "", kStatic,
     "the credentials that hold its log-in with credentials.login = outside"},
    {"agent.private", home_list, neutral, "", "", "", kStatic,
     "directories in its state that it gets empty, for the session alone: others would run what lies there"},
    {"agent.project_files", project_list, neutral, "", "", "", kStatic,
     "protected names in the project that it takes for files: a missing one is held by a file, not a "
     "directory, and its directory by one of the session's own"},
    {"agent.protect", home_list, list_restricts, "", "", "", kStatic,
     "files and directories in its state that would run outside later; read-only, and not to be made"},
    {"agent.held_by_directory", home_list, neutral, "", "", "", kStatic,
     "those of agent.protect of which a missing one is held by an empty directory: it would take an empty "
     "file for more than none"},
    {"agent.placeholders", file_texts, neutral, "", "", "", kStatic,
     "the content that holds a missing one of agent.protect, below ~, where the usual one of its kind ({} "
     "for "
     "JSON) is an error for the agent"},
    {"agent.own_sandbox", text_list, neutral, "", "", "", kStatic,
     "options, with the value they take, that switch on a sandbox of its own, which can't start in the jail: "
     "a start with one is refused"},
    {"agent.credentials", name_list, list_grants, "", "", "", kStatic,
     "variables with its own log-in, which pass"},
    {"agent.files", file_texts, neutral, "", "", "", kStatic,
     "files that it finds in the jail, below /etc or ~; {notice}, {notice:json}, {notice:toml} and "
     "{original} "
     "are filled in, and {variable:NAME} with a variable that a credential sets; a line with one that none "
     "sets "
     "is left out"},
    {"agent.login", text, neutral, "", "", "", kStatic, "how to log in where no browser can call back"},
};

}  // namespace

std::span<const Setting> profile_settings() {
    return kProfileSettings;
}

std::span<const Setting> settings() {
    return kSettings;
}

const Setting* find_setting(std::string_view key) {
    const auto* row = std::ranges::find(kSettings, key, &Setting::key);
    return row == std::end(kSettings) ? nullptr : row;
}

const Setting* find_flag(std::string_view flag) {
    if (flag.empty()) return nullptr;
    const auto* row = std::ranges::find(kSettings, flag, &Setting::flag);
    return row == std::end(kSettings) ? nullptr : row;
}

bool is_list(Type type) {
    switch (type) {
        case boolean:
        case integer:
        case size:
        case duration:
        case choice:
        case text:
        case path:
            return false;
        case path_list:
        case home_list:
        case project_list:
        case name_list:
        case pattern_list:
        case rule_list:
        case level_list:
        case text_list:
        case assignments:
        case file_texts:
            return true;
    }
    return false;
}

std::vector<std::string_view> choices_of(const Setting& setting) {
    return setting.choices.empty() ? std::vector<std::string_view>{} : base::split(setting.choices, '|');
}

std::string variable_of(const Setting& setting) {
    if (is_list(setting.type)) return {};
    std::string name = std::string(kVariablePrefix) + base::upper(setting.key);
    std::ranges::replace(name, '.', '_');
    return name;
}

std::string expectation(const Setting& setting) {
    switch (setting.type) {
        case boolean:
            return "true or false";
        case integer:
            return "a whole number";
        case size:
            return "a size such as 512M or 4G";
        case duration:
            return "a duration such as 90s, 10m or 2h";
        case choice: {
            std::vector<std::string_view> words = choices_of(setting);
            std::string listed;
            for (size_t i = 0; i < words.size(); ++i) {
                if (i > 0) listed += i + 1 == words.size() ? " or " : ", ";
                listed += words[i];
            }
            return listed;
        }
        case text:
            return "a text";
        case path:
            return "a path";
        case path_list:
            return "a list of paths, absolute or from ~";
        case home_list:
            return "a list of paths relative to the home directory";
        case project_list:
            return "a list of paths or patterns relative to the project";
        case name_list:
            return "a list of names";
        case pattern_list:
            return "a list of patterns";
        case rule_list:
            return "a list of rules such as \"example.org\", \"*.example.org:443\" or \"10.0.0.0/8\"";
        case level_list:
            return "a list of CONTROL=LEVEL";
        case text_list:
            return "a list of texts";
        case assignments:
            return "a table of NAME = \"value\"";
        case file_texts:
            return "a table of \"path\" = \"content\", each path below /etc or ~";
    }
    return {};
}

}  // namespace config
