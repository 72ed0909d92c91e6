// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include <chrono>

#include "cli/context.h"
#include "cli/output.h"
#include "review/review.h"

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
    std::chrono::steady_clock::time_point began_;  // the user cannot set this clock
};

// For a layer: lists what would run outside if these changes were applied.
void tell_layer_review(const Output& output, const Caller& caller, const Workspace& workspace,
                       const review::Layer& layer);

}  // namespace cli
