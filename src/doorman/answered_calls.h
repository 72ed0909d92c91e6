// SPDX-License-Identifier: MIT
// The system calls that the doorman answers or refuses (doorman.h). Part of the launch specification of the
// inner stage.
#pragma once

#include <string>
#include <vector>

namespace doorman {

// What an Internet socket may do.
enum class Internet {
    host,     // everything: the network is the host's, or a network namespace restricts it
    refused,  // it can't be made
    handed,   // only TCP; every connection goes to the gateway, and listen() is refused
};

// Names of Unix sockets without a file (abstract names). Each network namespace has its own.
enum class AbstractNames {
    shared,   // those of the command's network namespace
    apart,    // Unix sockets are made in another network namespace (socket_factory.h)
    refused,  // can be neither bound nor connected to
};

struct AnsweredCalls {
    bool is_wanted = false;  // false: no filter is installed
    // The stage sends the listener to the supervisor, and a process outside the jail answers: the keeper, or
    // the tracer of a traced jail. It can answer only for `apart` and `guards_terminal_size`.
    bool is_outside = false;
    // False: no process can answer, so the filter refuses the calls. Then only pairs of Unix sockets can be
    // made, and attributes can't be changed. `handed` and `guards_signals` are not possible.
    bool is_answered = true;
    Internet internet = Internet::host;
    // With `handed`: the jail has its own loopback, so it may listen there and connect to it.
    bool owns_loopback = false;
    int gateway = -1;  // with `handed`: a SOCK_SEQPACKET socket to the gateway (handoff_message.h)

    // The caller can connect to Unix sockets at or below these physical paths only.
    bool guards_sockets = false;
    std::vector<std::string> sockets;
    AbstractNames abstract_names = AbstractNames::shared;
    int socket_factory = -1;  // with `apart`, in the process that answers: the socket to the factory

    // The size of the session's terminal can't be changed. The process that answers must be in the terminal's
    // session.
    bool guards_terminal_size = false;

    // Modes, owners, times and extended attributes can be changed at or below these physical paths only.
    // Landlock does not cover them.
    bool guards_attributes = false;
    std::vector<std::string> changeable;
    bool guards_truncation = false;  // Landlock before ABI 3 does not cover that

    // Without a pid namespace: the jail can't change limits, priorities and affinities of processes outside,
    // and with `guards_signals` (Landlock before ABI 6) it can't signal them.
    bool guards_processes = false;
    bool guards_signals = false;
    bool refuses_system_v = false;  // shared memory, semaphores and queues; without an ipc
                                    // namespace

    bool operator==(const AnsweredCalls&) const = default;
};

}  // namespace doorman
