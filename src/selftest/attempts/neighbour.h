// SPDX-License-Identifier: MIT
// A process of the same user outside the jail, with a secret in its environment and services that greet every
// client. It is this program in another role.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "selftest/planted/world.h"

namespace selftest {

// A listener on the host's loopback; its port goes to `port`. Invalid if it can't be made.
base::Fd listen_at_loopback(int64_t& port);

// Created by the handler of the signal that one probe sends to every process that it can reach.
std::string signalled_file(const World& world);

class Neighbour {
  public:
    Neighbour() = default;
    Neighbour(Neighbour&& other) noexcept;
    Neighbour& operator=(Neighbour&& other) noexcept;
    ~Neighbour() { end(); }

    // Opens the services, writes their addresses to `world` and starts the process. The entry of a service
    // that is impossible on this host stays empty.
    base::Status start(World& world);
    void end();

  private:
    pid_t process_ = -1;
};

// The role of that process: `selftest-part neighbour SECRET FILE READY SERVICE…`, with descriptors as
// numbers.
int run_neighbour(const std::vector<std::string>& words);

}  // namespace selftest
