// SPDX-License-Identifier: MIT
// The stub's own terminal: in raw mode while a command on the node uses it, otherwise unchanged.
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

    // Nothing if standard input is not a terminal.
    static std::optional<channel::Window> window();

    void make_raw();
    void restore();
    // After a stop: the shell has changed the mode meanwhile.
    void make_raw_again();

  private:
    std::optional<struct termios> before_;
};

}  // namespace slurm::client
