// SPDX-License-Identifier: MIT
// Starts the probes, outside or in a jail, in their own session with their own terminal, and collects their
// output. While an instance exists, a signal that would end the program ends the probes instead, so that the
// planted files are removed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "selftest/planted/planted.h"
#include "selftest/selftest.h"
#include "session/held_signals.h"

namespace selftest {

class Launcher {
  public:
    // The unchanged output of the probes.
    base::Result<std::string> run_outside(const Planted& planted, const std::vector<std::string>& words);
    base::Result<std::string> run_inside(const Planted& planted, const Jail& jail);

  private:
    base::Result<std::string> collect(const Planted& planted, const std::function<void()>& become);
    base::Status listen(int from, std::string& text);

    session::HeldSignals signals_;
};

}  // namespace selftest
