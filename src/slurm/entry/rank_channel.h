// SPDX-License-Identifier: MIT
// The channel between a rank of MPI and Slurm's process manager (PMI, by the descriptor that PMI_FD names).
// Threat: "spawn", by which a rank has srun start a program as another step, outside of any jail. Test:
// tests/slurm/attacks.bats, "a rank starts nothing outside through its process manager".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace slurm {

// What of a rank's bytes may go on. The manager's own bytes have to be shown to it, since what the rank may
// say next depends on them.
class RankRequests {
  public:
    // Takes bytes of the rank. False: this is nothing that a rank may ask; the channel is to be closed.
    bool take(std::string_view bytes);
    // Takes bytes of the manager. False: it speaks in a way that is not known here.
    bool answered(std::string_view bytes);
    // What may be written to the manager now.
    std::string next();

  private:
    // In lines, one at a time: the manager takes what it reads at once for one request. In frames: as they
    // come.
    enum class Manner { greeting, greeted, lines, frames };

    bool read_greeting();
    bool read_line();
    bool read_frames();
    bool advance();

    Manner manner_ = Manner::greeting;
    bool awaits_answer_ = false;
    std::string incoming_, outgoing_, answer_;
};

// Puts such a guard between the rank and the manager: a process that lasts as long as both ends do. The
// descriptor keeps its number.
base::Status guard_rank_channel(int descriptor);

}  // namespace slurm
