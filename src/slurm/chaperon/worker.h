// SPDX-License-Identifier: MIT
// The process of one request: reads it, asks its handler, tells the stub how it ended.
#pragma once

#include "base/file.h"
#include "slurm/chaperon/context.h"
#include "slurm/chaperon/conversation.h"
#include "slurm/chaperon/log.h"
#include "slurm/chaperon/serve.h"

namespace slurm::chaperon {

// In a process of its own; the caller ends it afterwards.
void answer(const Context& context, const Handlers& handlers, const Limits& limits, const Log& log,
            base::Fd socket);

}  // namespace slurm::chaperon
