// SPDX-License-Identifier: MIT
// connect() and listen().
#pragma once

#include <sys/un.h>

#include <cstddef>

#include "doorman/answered_calls.h"
#include "doorman/caller.h"
#include "doorman/deferred_calls.h"
#include "doorman/handoff/connect_handoff.h"
#include "doorman/objects.h"

namespace doorman {

struct Sockets {
    const AnsweredCalls& calls;
    int listener;
    WaitingRoom& waiting_room;
};
Answer answer_connect(const Caller& caller, const Sockets& sockets);
Answer answer_listen(const Caller& caller);

// Where the name begins in the address of a Unix socket.
inline constexpr size_t kPathOffset = offsetof(struct sockaddr_un, sun_path);

// SO_DOMAIN, SO_TYPE …; -1: not a socket, or without this option.
int option(int socket, int name);
bool is_internet(int family);
// Copies the second argument of connect() or bind(); zero or an errno.
int read_address(const Caller& caller, Address& address);
// What connect() and bind() begin with: a copy of the socket, its family and the address. Zero or an errno;
// the caller still waits then, and is a process that we may act for.
int take_socket_and_address(const Caller& caller, base::Fd& socket, int& family, Address& address);

// Connects a Unix socket to the opened one without waiting; zero or an errno (EAGAIN: the queue is full).
int connect_to(int socket, const Object& server);

}  // namespace doorman
