// SPDX-License-Identifier: MIT
// The groups of probes, one file each.
#pragma once

#include <vector>

#include "selftest/probe.h"

namespace selftest {

using Probes = std::vector<Probe>;

void add_files(Probes& probes);         // reading what is hidden
void add_places(Probes& probes);        // the system: what is absent, what can't be written
void add_environment(Probes& probes);   // secrets in variables
void add_processes(Probes& probes);     // processes outside, power inside
void add_ipc(Probes& probes);           // shared memory, queues, sockets, keys
void add_terminal(Probes& probes);      // typing into the caller's terminal
void add_system_calls(Probes& probes);  // what the filter refuses
void add_namespaces(Probes& probes);    // new namespaces, and changes of the view
void add_protection(Probes& probes);    // paths of the project that run code later
void add_persistence(Probes& probes);   // what stays behind
void add_network(Probes& probes);       // services of this host
void add_gateway(Probes& probes);       // what the gateway could be talked into

}  // namespace selftest
