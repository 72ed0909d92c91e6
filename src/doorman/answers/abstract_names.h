// SPDX-License-Identifier: MIT
// Abstract names of Unix sockets in a jail that shares the host's network namespace (answered_calls.h).
// Either every Unix socket is made in another network namespace, or abstract names can't be bound.
#pragma once

#include <cstdint>
#include <vector>

#include "base/file.h"
#include "doorman/answered_calls.h"
#include "doorman/caller.h"
#include "doorman/doorman.h"

namespace doorman {

// A process in its own network namespace that makes Unix sockets for a jail that shares the host's network.
// Each network namespace has its own abstract names, so the jail and the host don't find each other's.
// Sockets with a file are found by the file, across namespaces.

// The arguments of socket(2) or socketpair(2).
struct SocketRequest {
    int32_t type = 0;
    int32_t protocol = 0;
    bool is_pair = false;
};

// ---- The factory's process

// Makes a new network namespace, or enters `spaces`: a user namespace and a network namespace that it owns.
// The process then has every capability in them. Zero or an errno.
int leave_network(const std::vector<int>& spaces);
// Serves requests until the other end of `channel` is closed.
void serve_sockets(int channel);

// ---- Its client

// Requests one socket, or a pair, from the factory at the other end of `channel`. Zero or an errno; EACCES if
// the factory has ended, EAGAIN if it does not answer in time: a later request may succeed.
int make_sockets(int channel, const SocketRequest& request, std::vector<base::Fd>& made);

// AbstractNames::apart: socket() and socketpair() of the Unix family.
Answer answer_socket(const Caller& caller, int factory);

// AbstractNames::refused: bind().
Answer answer_bind(const Caller& caller, const AnsweredCalls& calls, const Hooks& hooks);

}  // namespace doorman
