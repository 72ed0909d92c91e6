// SPDX-License-Identifier: MIT
// The channel between a rank of MPI and Slurm's process manager (PMI, by the descriptor that PMI_FD names).
// Threat: "spawn", by which a rank has srun start a program as another step, outside of any jail. Test:
// tests/slurm/attacks.bats, "a rank starts nothing outside through its process manager".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace slurm {

// Selects the rank's bytes that may be forwarded. It must also get the manager's bytes, because the allowed
// requests depend on them.
class RankRequests {
  public:
    // Takes bytes of the rank. False: the request is not allowed, and the channel must be closed.
    bool take(std::string_view bytes);
    // Takes bytes of the manager. False: the answer is in an unknown format.
    bool answered(std::string_view bytes);
    // The bytes to write to the manager now.
    std::string next();

  private:
    // In lines, one at a time: the manager treats each read as one request. In frames: as they arrive.
    enum class Manner { greeting, greeted, lines, frames };

    bool read_greeting();
    bool read_line();
    bool read_frames();
    bool advance();

    Manner manner_ = Manner::greeting;
    bool awaits_answer_ = false;
    std::string incoming_, outgoing_, answer_;
};

// Starts a guard process between the rank and the manager, which runs as long as both ends are open. The
// descriptor keeps its number.
base::Status guard_rank_channel(int descriptor);

}  // namespace slurm
