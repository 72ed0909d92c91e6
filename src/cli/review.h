// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include "cli/context.h"
#include "cli/output.h"

namespace cli {

// After a session that could write the project: what in it now runs outside. Silent where there is nothing. A
// short run without a terminal is spared the walk through the project.
class EndReview {
  public:
    EndReview();
    void tell(const Output& output, const Caller& caller, const plan::Plan& plan,
              const std::string& state_directory) const;

  private:
    timespec started_;
    timespec began_;  // by a clock that nobody sets
};

}  // namespace cli
