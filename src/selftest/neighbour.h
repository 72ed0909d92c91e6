// SPDX-License-Identifier: MIT
// A process of the same user outside the jail, with a secret in its environment and services that greet
// whoever reaches them. The program plays it itself, under a word of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "selftest/world.h"

namespace selftest {

// Made by the signal that one probe sends to every process it can reach.
std::string signalled_file(const World& world);

class Neighbour {
  public:
    Neighbour() = default;
    Neighbour(Neighbour&& other) noexcept;
    Neighbour& operator=(Neighbour&& other) noexcept;
    ~Neighbour() { end(); }

    // Opens the services, writes their places into `world` and starts the process. A service that this host
    // can't have stays empty there.
    base::Status start(World& world);
    void end();

  private:
    pid_t process_ = -1;
};

// The part of that process: `selftest-part neighbour SECRET FILE READY SERVICE…`, descriptors as numbers.
int run_neighbour(const std::vector<std::string>& words);

}  // namespace selftest
