// SPDX-License-Identifier: MIT
// One request as its handler sees it: what was asked, and the line back to the stub. A handler is
// straight-line code in a process of its own; whatever it does, it can't hold up another request.
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
    std::string command;                   // "sbatch"; one that the channel knows
    std::vector<std::string> arguments;    // without the command's name
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // absolute; exists in the jail, perhaps nowhere else
    std::optional<std::string> script;     // sbatch: its bytes, read by the stub
    bool has_terminal = false;             // the stub's standard input is one
    WindowSize window;
};

// How a command ended; the stub ends in the same way.
struct Ending {
    int status = 0;
    bool by_signal = false;
};

// What a real command said, for answers that are made from it.
struct Captured {
    std::string output, errors;
    Ending ending;
};

class Conversation {
  public:
    virtual ~Conversation() = default;

    virtual void out(std::string_view text) = 0;
    virtual void err(std::string_view text) = 0;

    // Tells the stub why, writes it to the log, and is what a handler returns.
    virtual Ending deny(const Denial& denial) = 0;
    // A line for the log of the session: "submitted", {{"job", "17"}}.
    virtual void record(std::string_view event, const std::map<std::string, std::string>& facts) = 0;

    // Runs a real command to its end, away from the stub; `input` is its standard input. Bounded in size and
    // ended with the connection, or by a signal that the stub passes on: both are errors.
    virtual base::Result<Captured> capture(std::string_view client, const std::vector<std::string>& arguments,
                                           std::string_view input = {}) = 0;

    struct Relayed {
        bool passes_input = false;           // the stub's standard input, else none
        std::optional<std::string> input;    // its standard input instead, to the end
        bool has_terminal = false;           // a pseudo-terminal of its own, with the stub's window size
        std::vector<std::string> variables;  // more of its environment, "NAME=value"
        std::string directory = "/";         // where it runs
        // Sees each whole line of standard output with its line break (the last may have none), and exactly
        // what it returns is sent; no function: bytes go as they come.
        std::function<std::string(std::string_view line)> rewrite;
    };
    // Runs a real command with its output streamed to the stub and the stub's signals passed to it. When the
    // stub goes away it is asked to end, then killed. Errors: it could not be started.
    virtual base::Result<Ending> relay(std::string_view client, const std::vector<std::string>& arguments,
                                       const Relayed& how) = 0;

    // salloc: while the real command `client` holds the allocation, the stub runs the user's command in the
    // jail that exists. `holder` is the program that the real salloc starts in our name: it writes its
    // environment to its standard output as NUL-terminated fields, an empty field last, and ends, with the
    // status in the byte that it reads, when its standard input is closed.
    // `variables_for` picks what of that environment the user's command gets.
    using Choose = std::function<std::vector<std::string>(const std::vector<std::string>& environment)>;
    virtual base::Result<Ending> hold(std::string_view client, const std::vector<std::string>& arguments,
                                      const Choose& variables_for) = 0;
};

using Handler = Ending (*)(const Context&, const Call&, Conversation&);
using Handlers = std::map<std::string, Handler, std::less<>>;

}  // namespace slurm::chaperon
