// SPDX-License-Identifier: MIT
// A process in its own network namespace that makes Unix sockets for a jail that shares the host's network.
// Each network namespace has its own abstract names, so the jail and the host don't find each other's.
// Sockets with a file are found by the file, across namespaces.
#pragma once

#include <cstdint>
#include <vector>

#include "base/file.h"

namespace doorman {

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
// the factory has ended.
int make_sockets(int channel, const SocketRequest& request, std::vector<base::Fd>& made);

}  // namespace doorman
