// SPDX-License-Identifier: MIT
// Blocks the signals that would end or stop the supervisor, and makes them readable as events instead. The
// destructor restores the caller's state.
#pragma once

#include "base/file.h"
#include "inner/command/signals.h"

namespace session {

class HeldSignals {
  public:
    HeldSignals();
    ~HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    const inner::SignalState& before() const { return before_; }
    int events() const { return events_.get(); }

  private:
    inner::SignalState before_;
    base::Fd events_;
};

}  // namespace session
