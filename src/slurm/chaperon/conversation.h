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
#include <vector>

#include "base/result.h"
#include "slurm/chaperon/context.h"
#include "slurm/options/denial.h"

namespace slurm::chaperon {

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
    // existing jail. The real salloc starts our holder (slurm/entry/hold.h). It writes its environment to
    // standard output as NUL-terminated fields, with an empty field last. It exits when its standard input is
    // closed, with the status in the byte that it read.
    // `variables_for` selects the variables of that environment for the user's command.
    using Choose = std::function<std::vector<std::string>(const std::vector<std::string>& environment)>;
    virtual base::Result<Ending> hold(std::string_view client, const std::vector<std::string>& arguments,
                                      const Choose& variables_for) = 0;
};

using Handler = Ending (*)(const Context&, const Call&, Conversation&);
using Handlers = std::map<std::string, Handler, std::less<>>;

}  // namespace slurm::chaperon
