// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <string>

#include "audit/writer.h"
#include "base/file.h"
#include "slurm/chaperon/context.h"
#include "slurm/chaperon/conversation.h"

namespace slurm::chaperon {

struct Line {
    base::Fd listener;          // a listening Unix socket whose name the jail has
    base::Fd session;           // readable or closed when the session is over
    std::string log;            // a file that is made at the first line; outside the jail
    audit::Writer record = {};  // of the session; without a file nothing is written there
};

struct Limits {
    size_t workers = 64;
    // A request has to arrive within this; a script may take longer while its bytes keep coming.
    std::chrono::milliseconds request{5000};
    std::chrono::milliseconds script{30000};
    // Between asking a real command to end and ending it.
    std::chrono::milliseconds grace{5000};
    size_t captured = 64u << 20;
};

// Threat: another user of the machine who got hold of the socket's name. Test: Serve.OnlyTheSameUserIsServed.
bool is_served(const struct ucred& peer, uint32_t uid);

// Answers requests until the session is over; returns the exit code of the process. The caller has forked it,
// set PR_SET_PDEATHSIG and closed all other descriptors.
int serve(const Context& context, const Handlers& handlers, Line line, const Limits& limits = {});

}  // namespace slurm::chaperon
