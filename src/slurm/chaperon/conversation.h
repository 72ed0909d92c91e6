// SPDX-License-Identifier: MIT
// One request as its handler sees it: the call, and the connection to the stub. A handler is straight-line
// code in a process of its own, so it cannot block another request.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"
#include "policy/policy.h"
#include "slurm/options/denial.h"

namespace slurm::chaperon {

// The real commands, executed through a descriptor. Threat: a command that the jail can replace would run
// outside of it. So each is opened before any code of the jail runs, and a later file under the same name has
// no effect. If only root can change the directory, which is the usual case, only the directory is opened: a
// session may never need any of its commands. (tests/slurm_chaperon/clients_test.cc)

class Clients {
  public:
    void add(const std::string& name, const base::Path& file);
    void add(const std::string& name, base::Fd file);

    // The descriptor of the command's program, which this call opens if needed. -1: there is no such command.
    int descriptor_of(std::string_view name) const;
    // The descriptors of all programs and directories. -1 for a program that is not open yet.
    std::vector<int> descriptors() const;

  private:
    struct Client {
        base::Fd file;
        int directory = -1;  // the program is opened there when it is needed
        std::string file_name;
    };
    struct Directory {
        base::Fd fd;
        bool is_only_roots = false;
    };
    const Directory& directory_at(const base::Path& path);

    mutable std::map<std::string, Client, std::less<>> clients_;
    std::map<base::Path, Directory> directories_;
};

// The chaperon's data for the whole session. Everything in it comes from outside the jail.

using Scope = policy::SlurmScope;

// A directory that the jail can write. What is written in one that does not last is gone after the session,
// or after the job.
struct WritablePlace {
    base::Path path;
    bool lasts = false;
};

// A credential of the session, which no job gets.
struct SessionCredential {
    std::string name;
    std::vector<std::string> placeholders;
    std::vector<std::string> variables;
};

struct Context {
    std::string session;         // 32 hexadecimal digits; jobs that a job submits have the same one
    base::Path project;          // physical
    uint64_t project_inode = 0;  // at the start of the session
    Scope scope = Scope::project;
    uint32_t uid = 0;
    std::string user;  // the account's name
    base::Path home;
    bool mail_is_closed = true;
    std::string program;                   // this program's path on every node
    std::string state_directory;           // $XDG_STATE_HOME/agent-sandbox: never visible in the jail
    std::string launcher_job;              // the allocation in which the session was started; may be empty
    std::vector<std::string> environment;  // the whole environment of the real commands, "NAME=value"
    std::vector<std::string> jail_environment;  // what the session's jail set for itself: TMPDIR, proxies
    std::vector<WritablePlace> places;
    std::vector<SessionCredential> credentials;
    // Entries that are right in the session alone: "SSL_CERT_FILE=…", addresses of its own.
    std::vector<std::string> session_variables;
    // Settings for the jail of a job, in addition to the node's own files: options of the program, and
    // variables of its settings.
    std::vector<std::string> job_options;
    std::vector<std::string> job_variables;
    std::vector<std::string> spank_options;  // of the site (slurm/options/option.h)
    Clients clients;
};

struct WindowSize {
    uint16_t rows = 0, columns = 0;
};

// From the jail: every part of it is as untrusted as the agent.
struct Call {
    std::string command;                   // "sbatch"; a command of the channel
    std::vector<std::string> arguments;    // without the command's name
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // absolute; exists in the jail, perhaps only there
    std::optional<std::string> script;     // sbatch: its bytes, which the stub has read
    bool has_terminal = false;             // the stub's standard input is one
    WindowSize window;
};

// How a command ended. The stub ends in the same way.
struct Ending {
    int status = 0;
    bool by_signal = false;
};

// The output of a real command, for answers that are made from it.
struct Captured {
    std::string output, errors;
    Ending ending;
};

class Conversation {
  public:
    virtual ~Conversation() = default;

    virtual void out(std::string_view text) = 0;
    virtual void err(std::string_view text) = 0;

    // Sends the denial to the stub and writes it to the log. Returns the ending for the handler.
    virtual Ending deny(const Denial& denial) = 0;
    // A line for the log of the session: "submitted", {{"job", "17"}}.
    virtual void record(std::string_view event, const std::map<std::string, std::string>& facts) = 0;

    // Runs a real command to its end without the stub; `input` is its standard input. Two cases are errors:
    // too much output, and an end by the closed connection or by a signal from the stub.
    virtual base::Result<Captured> capture(std::string_view client, const std::vector<std::string>& arguments,
                                           std::string_view input = {}) = 0;

    struct Relayed {
        bool passes_input = false;           // pass on the stub's standard input; otherwise there is no input
        std::optional<std::string> input;    // use this text as its standard input instead
        bool has_terminal = false;           // a pseudo-terminal of its own, with the stub's window size
        std::vector<std::string> variables;  // more of its environment, "NAME=value"
        std::string directory = "/";         // where it runs
        // Receives each whole line of standard output with its line break (the last line may lack it). Its
        // result is sent instead of the line. Without a function, bytes are sent as they arrive.
        std::function<std::string(std::string_view line)> rewrite;
    };
    // Runs a real command, streams its output to the stub and passes the stub's signals to it. When the stub
    // leaves, the command gets a signal to end and is killed later. An error: it could not be started.
    virtual base::Result<Ending> relay(std::string_view client, const std::vector<std::string>& arguments,
                                       const Relayed& how) = 0;

    // salloc: while the real command `client` keeps the allocation, the stub runs the user's command in the
    // existing jail. The real salloc starts our holder (slurm/entry/payload.h). It writes its environment to
    // standard output as NUL-terminated fields, with an empty field last. It exits when its standard input is
    // closed, with the status in the byte that it read.
    // `variables_for` selects the variables of that environment for the user's command.
    using Choose = std::function<std::vector<std::string>(const std::vector<std::string>& environment)>;
    virtual base::Result<Ending> hold(std::string_view client, const std::vector<std::string>& arguments,
                                      const Choose& variables_for) = 0;
};

// The value of --clusters for the real command: the name of this cluster, if `asked` names it or is "all".
std::variant<std::string, Denial> own_cluster(std::string_view option, std::string_view asked,
                                              Conversation& conversation);

using Handler = Ending (*)(const Context&, const Call&, Conversation&);
using Handlers = std::map<std::string, Handler, std::less<>>;

}  // namespace slurm::chaperon
