// SPDX-License-Identifier: MIT
// The system calls that the doorman answers or refuses (doorman.h). Part of the launch specification of the
// inner stage.
#pragma once

#include <sys/syscall.h>

#include <cstdint>
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
    apart,    // Unix sockets are made in another network namespace (abstract_names.h)
    refused,  // can be neither bound nor connected to
};

struct AnsweredCalls {
    bool is_wanted = false;  // false: no filter is installed
    // The stage sends the listener to the supervisor, and a process outside the jail answers: the keeper, or
    // the tracer of a traced jail. It can answer only for `apart` and `guards_terminal_size`, and the keeper
    // for `judges_renames`, `judges_removals` and `refuses_namespaces`, too.
    bool is_outside = false;
    // False: no process can answer, so the filter refuses the calls. Then only pairs of Unix sockets can be
    // made, and attributes can't be changed. `handed` and `guards_signals` are not possible.
    bool is_answered = true;
    Internet internet = Internet::host;
    // With `handed`: the jail has its own loopback, so it may listen there and connect to it.
    bool owns_loopback = false;
    // With `owns_loopback`: ports of 127.0.0.1 and ::1 that go to the gateway all the same (--host-port).
    std::vector<uint16_t> host_ports;
    int gateway = -1;  // with `handed`: a SOCK_SEQPACKET socket to the gateway (connect_handoff.h)

    // The caller can connect to Unix sockets at or below these physical paths only.
    bool guards_sockets = false;
    std::vector<std::string> sockets;
    AbstractNames abstract_names = AbstractNames::shared;
    int socket_factory = -1;  // with `apart`, in the process that answers: the socket to the factory

    // The size of the session's terminal can't be changed. The process that answers must be in the terminal's
    // session.
    bool guards_terminal_size = false;

    // Hooks::on_rename decides about renames onto some names (answers/renames.h); the kernel executes all
    // others.
    bool judges_renames = false;
    // Hooks::on_removal decides about unlink() and rmdir() of some names; the kernel executes all others.
    bool judges_removals = false;

    // clone() and unshare() with a flag for a new namespace fail with EPERM, and Hooks::on_refused_namespaces
    // gets the name of the program. The jail's filter leaves these calls to the listener
    // (seccomp::Switches::leaves_namespaces_to_listener).
    bool refuses_namespaces = false;

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

// Numbers of system calls that one of our architectures does not have (-1), or that are newer than the
// headers at hand.

#ifdef SYS_open  // the old calls, all of them or none
inline constexpr int kOpen = SYS_open;
inline constexpr int kChmod = SYS_chmod;
inline constexpr int kChown = SYS_chown;
inline constexpr int kLchown = SYS_lchown;
inline constexpr int kUtime = SYS_utime;
inline constexpr int kUtimes = SYS_utimes;
inline constexpr int kFutimesat = SYS_futimesat;
inline constexpr int kRename = SYS_rename;
inline constexpr int kUnlink = SYS_unlink;
inline constexpr int kRmdir = SYS_rmdir;
#else
inline constexpr int kOpen = -1;
inline constexpr int kChmod = -1;
inline constexpr int kChown = -1;
inline constexpr int kLchown = -1;
inline constexpr int kUtime = -1;
inline constexpr int kUtimes = -1;
inline constexpr int kFutimesat = -1;
inline constexpr int kRename = -1;
inline constexpr int kUnlink = -1;
inline constexpr int kRmdir = -1;
#endif

// Since Linux 5.1 new calls have one number everywhere.
inline constexpr int kPidfdSendSignal = 424;
inline constexpr int kPidfdOpen = 434;
inline constexpr int kOpenat2 = 437;
inline constexpr int kPidfdGetfd = 438;
inline constexpr int kProcessMrelease = 448;
inline constexpr int kFchmodat2 = 452;
inline constexpr int kSetxattrat = 463;
inline constexpr int kRemovexattrat = 466;
inline constexpr int kFileSetattr = 469;

}  // namespace doorman
