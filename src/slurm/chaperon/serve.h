// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <string>

#include "audit/writer.h"
#include "base/file.h"
#include "slurm/chaperon/conversation.h"

namespace slurm::chaperon {

struct Line {
    base::Fd listener;          // a listening Unix socket that is visible in the jail
    base::Fd session;           // readable or closed when the session has ended
    std::string log;            // a file outside the jail, created with the first line
    audit::Writer record = {};  // the session's; without a file nothing is written
};

struct Limits {
    size_t workers = 128;  // connections; others wait in the queue of the socket
    size_t commands = 64;  // requests that are answered at once; others wait for their turn
    size_t reserve = 16;   // more than `commands`, for requests that end soon
    // Time limit for a request. A script may take longer while its bytes keep arriving.
    std::chrono::milliseconds request{5000};
    std::chrono::milliseconds script{30000};
    // Between the signal to end a real command and SIGKILL.
    std::chrono::milliseconds grace{5000};
    size_t captured = 64u << 20;
};

// Threat: another user of the machine connects to the socket. Test: Serve.OnlyTheSameUserIsServed.
bool is_served(const struct ucred& peer, uint32_t uid);

// Answers requests until the session ends. Returns the exit code of the process. The caller has forked it,
// set PR_SET_PDEATHSIG and closed all other descriptors.
int serve(const Context& context, const Handlers& handlers, Line line, const Limits& limits = {});

}  // namespace slurm::chaperon
