// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include "cli/context.h"
#include "cli/output.h"

namespace cli {

// After a session that could write the project: lists files in it that now run outside. Prints nothing if
// it finds no such file. Skips a short run without a terminal to save the walk through the project.
class EndReview {
  public:
    EndReview();
    void tell(const Output& output, const Caller& caller, const plan::Plan& plan,
              const Workspace& workspace) const;

  private:
    timespec started_;
    timespec began_;  // monotonic: the user cannot set this clock
};

}  // namespace cli
