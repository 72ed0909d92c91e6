// SPDX-License-Identifier: MIT
// The doorman's settings (see doorman.h). Part of the inner stage's orders.
#pragma once

#include <string>
#include <vector>

namespace doorman {

// What a socket of the Internet families may do.
enum class Internet {
    host,     // anything: the network is the host's, or a namespace guards it
    refused,  // no such socket can be made
    handed,   // TCP alone; every connection goes to the gateway, nothing can listen
};

struct Orders {
    bool is_wanted = false;  // false: no filter is installed and nothing is asked
    // Where no process can answer, calls that need an answer are refused: there are no Unix sockets then but
    // pairs, and attributes stay as they are. `handed` and `guards_signals` can't be had.
    bool is_answered = true;
    Internet internet = Internet::host;
    // Of `handed`: the jail's loopback is its own, so that it may listen there and connect to it.
    bool owns_loopback = false;
    int gateway =
        -1;  // of `handed`: a SOCK_SEQPACKET socket that connections are handed through (handoff_message.h)

    // Unix sockets with a name: only those at or below these physical paths can be connected to.
    bool guards_sockets = false;
    std::vector<std::string> sockets;
    // Sockets without a file: only where Landlock does not keep them inside (ABI < 6) they are refused here.
    bool refuses_abstract = false;

    // Modes, owners, times and extended attributes can be changed at or below these physical paths alone;
    // Landlock does not govern them.
    bool guards_attributes = false;
    std::vector<std::string> changeable;
    bool guards_truncation = false;  // Landlock before ABI 3 does not either

    // There is no pid namespace: limits, priorities and affinities of other processes can't be changed, and
    // with `guards_signals` (Landlock before ABI 6) they can't be signalled.
    bool guards_processes = false;
    bool guards_signals = false;
    bool refuses_system_v = false;  // shared memory, semaphores and queues without a file: there is no ipc
                                    // namespace

    bool operator==(const Orders&) const = default;
};

}  // namespace doorman
