// SPDX-License-Identifier: MIT
// Files that every jail has: the paths of the sandbox's own files, the entries of /dev, and the contents of
// placeholder files.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace base {

// The paths of the sandbox's own files inside a jail: /run/agent-sandbox where a backend can mount there,
// else a directory of the session that a variable names. One list of names, for the code that creates the
// files and the code that reads them.

inline constexpr std::string_view kOwnDirectory = "/run/agent-sandbox";
// The session's own directory: /tmp/agent-sandbox-… with the first digits of its id.
inline constexpr std::string_view kPlaceParent = "/tmp";
inline constexpr std::string_view kPlacePrefix = "agent-sandbox-";
inline constexpr size_t kPlaceDigits = 16;
inline constexpr const char* kPlaceVariable = "AGENT_SANDBOX_PLACE";

inline constexpr std::string_view kOwnProgram = "agent-sandbox";  // the program itself
inline constexpr std::string_view kOwnProgramPath = "/run/agent-sandbox/agent-sandbox";
static_assert(kOwnProgramPath.starts_with(kOwnDirectory) && kOwnProgramPath.ends_with(kOwnProgram) &&
              kOwnProgramPath.size() == kOwnDirectory.size() + 1 + kOwnProgram.size());
inline constexpr std::string_view kStubs = "stubs";  // names it is called by; first in PATH
inline constexpr std::string_view kOwnSandboxes =
    "own-sandboxes";                                      // options that the stub of an agent refuses
inline constexpr std::string_view kSummary = "summary";   // the jail's rules, for `why`
inline constexpr std::string_view kNotice = "notice.md";  // text for the agent about the jail
inline constexpr std::string_view kNotifySocket = "notify";
inline constexpr std::string_view kMailSocket = "mail";  // the same for sessions without a terminal
inline constexpr std::string_view kSlurmSocket = "slurm";
inline constexpr std::string_view kSshAgentSocket = "ssh-agent";
inline constexpr std::string_view kJob = "job";  // the spec of a Slurm job
inline constexpr std::string_view kJobScript = "slurm_script";
inline constexpr std::string_view kTemporary = "tmp";  // only in a session's own directory

// Inside a jail. The jail can change the variable, but then it misleads only itself.
std::string own_directory();
std::string own_path(std::string_view name);

// The content of every jail's /dev, without the nodes that devices.allow adds. bubblewrap's --dev makes the
// same entries.

// Nodes of the host that every program may use. /dev/ptmx and /dev/pts are not among them. A new terminal can
// only be used through its name there, and the caller's other terminals have the same kind of name and owner:
// a process that can open the host's /dev/pts can type into the caller's shells. The jail inherits the
// caller's own terminal, which is /dev/tty.
inline constexpr std::string_view kDeviceNodes[] = {"null", "zero", "full", "random", "urandom", "tty"};

struct DeviceLink {
    std::string_view name, target;
};
inline constexpr DeviceLink kDeviceLinks[] = {{"stdin", "/proc/self/fd/0"},  {"stdout", "/proc/self/fd/1"},
                                              {"stderr", "/proc/self/fd/2"}, {"fd", "/proc/self/fd"},
                                              {"core", "/proc/kcore"},       {"ptmx", "pts/ptmx"}};

// Directories of the jail's own, for shared memory and pseudo-terminals.
inline constexpr std::string_view kSharedMemory = "shm", kTerminals = "pts";
// The terminal that the command writes to, if it writes to one.
inline constexpr std::string_view kConsole = "console";

// The name of an entry above.
constexpr bool is_common_device(std::string_view name) {
    return std::ranges::count(kDeviceNodes, name) > 0 ||
           std::ranges::count(kDeviceLinks, name, &DeviceLink::name) > 0 || name == kSharedMemory ||
           name == kTerminals || name == kConsole;
}

// The directories through which processes share memory and messages: private to the jail, or the host's.
inline constexpr std::string_view kSharedDirectories[] = {"/dev/shm", "/dev/mqueue"};

// Contents of placeholder files: each makes a program behave as if the file were missing. The session
// recognises a placeholder by its content before it removes it, so the plan and the session share this list.

inline constexpr std::string_view kEmptyFile;
inline constexpr std::string_view kHereFile = ".\n";     // commondir of a git repository: this directory
inline constexpr std::string_view kObjectFile = "{}\n";  // an empty JSON object
// bash reads the first of .bash_profile, .bash_login and .profile that exists.
inline constexpr std::string_view kBashProfileFile =
    "if [ -s ~/.bash_login ]; then . ~/.bash_login; elif [ -r ~/.profile ]; then . ~/.profile; fi\n";
// tcsh reads .cshrc only where .tcshrc is missing.
inline constexpr std::string_view kTcshFile = "if ( -r ~/.cshrc ) source ~/.cshrc\n";
// vim reads the first that exists, or its defaults if none exists.
inline constexpr std::string_view kVimFile =
    "if filereadable(expand('~/.vim/vimrc')) | source ~/.vim/vimrc\n"
    "elseif filereadable(expand('~/.config/vim/vimrc')) | source ~/.config/vim/vimrc\n"
    "else | unlet! skip_defaults_vim | source $VIMRUNTIME/defaults.vim | endif\n";

// Beside a git configuration: the file that is exchanged with it (session/guard/git_config_gate.h). It has
// the content of an earlier configuration, so its name identifies it.
inline constexpr std::string_view kSpareConfig = "config.agent-sandbox";

inline constexpr std::string_view kNeutralFiles[] = {kEmptyFile,       kHereFile, kObjectFile,
                                                     kBashProfileFile, kTcshFile, kVimFile};

}  // namespace base
