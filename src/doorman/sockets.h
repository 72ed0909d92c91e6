// SPDX-License-Identifier: MIT
// connect() and listen().
#pragma once

#include "doorman/caller.h"
#include "doorman/deferred_calls.h"
#include "doorman/objects.h"
#include "doorman/orders.h"

namespace doorman {

struct Sockets {
    const Orders& orders;
    int listener;  // receives the calls
    WaitingRoom& waiting_room;
};
Answer answer_connect(const Caller& caller, const Sockets& sockets);
Answer answer_listen(const Caller& caller);

// Connects a Unix socket to the opened one, at once or not at all (EAGAIN); zero or an errno.
int connect_to(int socket, const Object& server);

}  // namespace doorman
