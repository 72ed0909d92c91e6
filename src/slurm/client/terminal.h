// SPDX-License-Identifier: MIT
// The stub's own terminal: raw while a command of the node has it, as it was otherwise.
#pragma once

#include <termios.h>

#include <optional>

#include "slurm/channel/frame.h"

namespace slurm::client {

class Terminal {
  public:
    Terminal() = default;
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() { restore(); }

    // Where standard input is a terminal.
    static std::optional<channel::Window> window();

    void make_raw();
    void restore();
    // After a stop: the shell has set it as it likes meanwhile.
    void make_raw_again();

  private:
    std::optional<struct termios> before_;
};

}  // namespace slurm::client
