// SPDX-License-Identifier: MIT
// The process of one request: reads it, calls its handler, sends the ending to the stub.
#pragma once

#include "base/file.h"
#include "slurm/chaperon/context.h"
#include "slurm/chaperon/conversation.h"
#include "slurm/chaperon/log.h"
#include "slurm/chaperon/serve.h"

namespace slurm::chaperon {

// Runs in a process of its own, which the caller ends afterwards.
void answer(const Context& context, const Handlers& handlers, const Limits& limits, const Log& log,
            base::Fd socket);

}  // namespace slurm::chaperon
