// SPDX-License-Identifier: MIT
#include "doorman/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>

#include "doorman/answered_calls.h"

namespace doorman {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name the architecture's AUDIT_ARCH here"
#endif

constexpr uint32_t kForeignAbi = 0x40000000;  // x32 calls on x86-64

using Program = std::vector<sock_filter>;

sock_filter statement(unsigned code, uint32_t value) {
    return sock_filter{static_cast<uint16_t>(code), 0, 0, value};
}

sock_filter equals(uint32_t value, size_t if_true, size_t if_false) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint8_t>(if_true),
                       static_cast<uint8_t>(if_false), value};
}

sock_filter load(size_t offset) {
    return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

// Both architectures are little-endian.
sock_filter load_argument(const Test& test, bool is_upper) {
    return load(offsetof(struct seccomp_data, args) + test.argument * sizeof(uint64_t) +
                (is_upper ? sizeof(uint32_t) : 0));
}

size_t length_of(const Test& test) {
    return test.kind == Test::Kind::is_null ? 4 : 3;
}

// Falls through when the test holds; `past` instructions lie between its end and the next row.
void add_test(Program& program, const Test& test, size_t past) {
    program.push_back(load_argument(test, false));
    if (test.kind == Test::Kind::is_null) {
        program.push_back(equals(0, 0, past + 2));
        program.push_back(load_argument(test, true));
        program.push_back(equals(0, 0, past));
        return;
    }
    program.push_back(statement(BPF_ALU | BPF_AND | BPF_K, test.mask));
    bool is_equal = test.kind == Test::Kind::equal;
    program.push_back(equals(test.value, is_equal ? 0 : past, is_equal ? past : 0));
}

void add_row(Program& program, const Row& row) {
    size_t left = 1;  // the verdict
    for (const Test& test : row.tests) left += length_of(test);
    for (const Test& test : row.tests) {
        left -= length_of(test);
        add_test(program, test, left);
    }
    program.push_back(statement(BPF_RET | BPF_K, row.verdict));
}

}  // namespace

std::vector<sock_filter> compile(std::span<const Row> rows) {
    std::map<int, Program> blocks;
    for (const Row& row : rows) {
        if (row.call >= 0) add_row(blocks[row.call], row);
    }
    Program program = {load(offsetof(struct seccomp_data, arch)),
                       equals(kArchitecture, 1, 0),
                       statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                       load(offsetof(struct seccomp_data, nr)),
                       {BPF_JMP | BPF_JGE | BPF_K, 0, 1, kForeignAbi},
                       statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    for (auto& [call, block] : blocks) {
        block.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        program.push_back(equals(static_cast<uint32_t>(call), 1, 0));
        // A block may be longer than a conditional jump reaches.
        program.push_back(statement(BPF_JMP | BPF_JA, static_cast<uint32_t>(block.size())));
        program.insert(program.end(), block.begin(), block.end());
    }
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return program;
}

namespace {

using Rows = std::vector<Row>;

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kAsk = SECCOMP_RET_USER_NOTIF;
constexpr uint32_t kNotPermitted = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kNoAccess = SECCOMP_RET_ERRNO | EACCES;
constexpr uint32_t kNotSupported = SECCOMP_RET_ERRNO | EOPNOTSUPP;
constexpr uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;

constexpr uint32_t kSocketType = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK

Test is(uint8_t argument, uint32_t value) {
    return {.argument = argument, .value = value};
}

Test has_bits(uint8_t argument, uint32_t mask, uint32_t value) {
    return {.argument = argument, .mask = mask, .value = value};
}

void add(Rows& rows, const Rows& more) {
    rows.insert(rows.end(), more.begin(), more.end());
}

struct SocketOption {
    uint32_t level;
    uint32_t name;
    uint32_t verdict;
};
// Threat: the stage connects a socket of the caller on loopback. With a source route, or bound to an
// interface, the first packet leaves the machine and can carry a secret in its port. The caller can set
// options at any moment, so they are refused here and not checked later (tests/doorman/internet_test.cc).
// With fast open the first packet waits for the first write, and the other end waits for that packet.
constexpr SocketOption kOptions[] = {
    {SOL_SOCKET, SO_BINDTODEVICE, kNotPermitted},
    {SOL_SOCKET, 62 /* SO_BINDTOIFINDEX */, kNotPermitted},
    {SOL_IP, 4 /* IP_OPTIONS */, kNotPermitted},
    {SOL_IP, 50 /* IP_UNICAST_IF */, kNotPermitted},
    {SOL_IPV6, 5 /* IPV6_2292RTHDR */, kNotPermitted},
    {SOL_IPV6, 6 /* IPV6_2292PKTOPTIONS */, kNotPermitted},
    {SOL_IPV6, 50 /* IPV6_PKTINFO */, kNotPermitted},
    {SOL_IPV6, 57 /* IPV6_RTHDR */, kNotPermitted},
    {SOL_IPV6, 76 /* IPV6_UNICAST_IF */, kNotPermitted},
    {IPPROTO_TCP, TCP_FASTOPEN_CONNECT, kNotSupported},
};

void add_handed_internet(Rows& rows, bool owns_loopback) {
    for (uint32_t family : {AF_INET, AF_INET6}) {
        for (uint32_t protocol : {0, int{IPPROTO_TCP}}) {
            rows.push_back({SYS_socket,
                            {is(0, family), has_bits(1, kSocketType, SOCK_STREAM), is(2, protocol)},
                            kAllow});
        }
        rows.push_back({SYS_socket, {is(0, family)}, kNoAccess});
    }
    if (!owns_loopback) rows.push_back({SYS_listen, {}, kAsk});
    // These connect without connect().
    constexpr uint32_t kFastOpen = MSG_FASTOPEN;
    add(rows, {{SYS_sendto, {has_bits(3, kFastOpen, kFastOpen)}, kNotSupported},
               {SYS_sendmsg, {has_bits(2, kFastOpen, kFastOpen)}, kNotSupported},
               {SYS_sendmmsg, {has_bits(3, kFastOpen, kFastOpen)}, kNotSupported}});
    for (const SocketOption& option : kOptions) {
        rows.push_back({SYS_setsockopt, {is(1, option.level), is(2, option.name)}, option.verdict});
    }
}

void add_internet(Rows& rows, const AnsweredCalls& calls) {
    switch (calls.internet) {
        case Internet::host:
            return;
        case Internet::refused:
            for (uint32_t family : {AF_INET, AF_INET6}) {
                rows.push_back({SYS_socket, {is(0, family)}, kNoAccess});
            }
            return;
        case Internet::handed:
            return add_handed_internet(rows, calls.owns_loopback);
    }
}

// Only plain renames: git replaces its files with these. The kernel would execute RENAME_EXCHANGE and others
// anyway.
void add_renames(Rows& rows) {
    add(rows, {{kRename, {}, kAsk}, {SYS_renameat, {}, kAsk}, {SYS_renameat2, {is(4, 0)}, kAsk}});
}

// clone3() hides its flags from filters, so the jail's own filter refuses it.
void add_namespaces(Rows& rows) {
    constexpr uint32_t kNewTime = 0x80;  // CLONE_NEWTIME
    constexpr uint32_t kNew = kNewTime | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                              CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    const Test makes_one{.argument = 0, .kind = Test::Kind::differs, .mask = kNew, .value = 0};
    add(rows, {{SYS_clone, {makes_one}, kAsk}, {SYS_unshare, {makes_one}, kAsk}});
}

// git removes its files with unlink() and rmdir(). `rm` uses unlinkat() and does not wait for an answer,
// except on architectures that have no other call.
void add_removals(Rows& rows) {
    if (kUnlink < 0) return add(rows, {{SYS_unlinkat, {}, kAsk}});
    add(rows, {{kUnlink, {}, kAsk}, {kRmdir, {}, kAsk}});
}

// Threat: the address of a datagram is in memory, for each message, and sendmsg() is called too often to
// notify it. A pair of datagram sockets can be disconnected and used for other addresses. For this family
// SOCK_RAW is the same as SOCK_DGRAM (tests/doorman/sockets_test.cc).
void add_sockets(Rows& rows) {
    for (int call : {SYS_socket, SYS_socketpair}) {
        for (uint32_t type : {SOCK_DGRAM, SOCK_RAW}) {
            rows.push_back({call, {is(0, AF_UNIX), has_bits(1, kSocketType, type)}, kNoAccess});
        }
    }
}

// Threat: a program of the host expects a service of the user at an abstract name and connects to it, but a
// process of the jail has bound that name (tests/jail/sockets.bats). An end of a pair can be bound, too.
void add_abstract_names(Rows& rows, AbstractNames names) {
    switch (names) {
        case AbstractNames::shared:
            return;
        case AbstractNames::apart:
            for (int call : {SYS_socket, SYS_socketpair}) rows.push_back({call, {is(0, AF_UNIX)}, kAsk});
            return;
        case AbstractNames::refused:
            rows.push_back({SYS_bind, {}, kAsk});
            return;
    }
}

// Threat: the size stays after the session, and the user's next program uses it (tests/jail/terminal.bats).
// The other two requests resize a text console.
void add_terminal_size(Rows& rows) {
    constexpr uint32_t kResizeConsole[] = {0x5609, 0x560a};  // VT_RESIZE, VT_RESIZEX
    rows.push_back({SYS_ioctl, {is(1, TIOCSWINSZ)}, kAsk});
    for (uint32_t request : kResizeConsole) rows.push_back({SYS_ioctl, {is(1, request)}, kNotPermitted});
}

// Requests that change a file or a directory through a descriptor that was opened for reading, so that no
// file rule applies: flags, project and encryption of a file; creating and removing subvolumes of btrfs.
constexpr uint32_t kFileRequests[] = {
    0x40086602,  // FS_IOC_SETFLAGS
    0x40087602,  // FS_IOC_SETVERSION
    0x401c5820,  // FS_IOC_FSSETXATTR
    0x800c6613,  // FS_IOC_SET_ENCRYPTION_POLICY
    0x50009401,  // BTRFS_IOC_SNAP_CREATE
    0x50009417,  // BTRFS_IOC_SNAP_CREATE_V2
    0x5000940e,  // BTRFS_IOC_SUBVOL_CREATE
    0x50009418,  // BTRFS_IOC_SUBVOL_CREATE_V2
    0x5000940f,  // BTRFS_IOC_SNAP_DESTROY
    0x5000943f,  // BTRFS_IOC_SNAP_DESTROY_V2
    0x4008941a,  // BTRFS_IOC_SUBVOL_SETFLAGS
    0x40086604,  // EXT4_IOC_SETVERSION
    0x40806685,  // FS_IOC_ENABLE_VERITY: the file can never be written again
    0xc0406618,  // FS_IOC_REMOVE_ENCRYPTION_KEY: locks the caller's encrypted directories
};

void add_attributes(Rows& rows) {
    for (int call : {kChmod, int{SYS_fchmod}, int{SYS_fchmodat}, kFchmodat2, kChown, kLchown, int{SYS_fchown},
                     int{SYS_fchownat}, kUtime, kUtimes, kFutimesat, int{SYS_utimensat}, int{SYS_setxattr},
                     int{SYS_lsetxattr}, int{SYS_fsetxattr}, int{SYS_removexattr}, int{SYS_lremovexattr},
                     int{SYS_fremovexattr}}) {
        rows.push_back({call, {}, kAsk});
    }
    // New calls: libraries work without them.
    for (int call : {kSetxattrat, kRemovexattrat, kFileSetattr}) rows.push_back({call, {}, kNoSuchCall});
    for (uint32_t request : kFileRequests) rows.push_back({SYS_ioctl, {is(1, request)}, kNotPermitted});
    // Threat: a lease on a file that can only be read makes a process outside that opens it for writing wait,
    // for three quarters of a minute each time (tests/jail/landlock_attacks.bats).
    constexpr uint32_t kSetLease = 1024;  // F_SETLEASE
    rows.push_back({SYS_fcntl, {is(1, kSetLease)}, kNotPermitted});
}

void add_truncation(Rows& rows) {
    rows.push_back({SYS_truncate, {}, kAsk});
    // Landlock before ABI 3 checks only the access mode of the new descriptor: reading (0), or neither (3).
    for (uint32_t access : {0u, 3u}) {
        for (auto [call, flags] : {std::pair{kOpen, uint8_t{1}}, std::pair{int{SYS_openat}, uint8_t{2}}}) {
            rows.push_back({call, {has_bits(flags, O_TRUNC | 3u, O_TRUNC | access)}, kNoAccess});
        }
    }
}

// Pid 0 is the caller itself.
void add_processes(Rows& rows) {
    for (int call : {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam,
                     SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages}) {
        rows.push_back({call, {is(0, 0)}, kAllow});
        rows.push_back({call, {}, kAsk});
    }
    constexpr uint32_t kOneProcess = 1;  // IOPRIO_WHO_PROCESS; a group is this plus one
    for (auto [call, process] :
         {std::pair{SYS_setpriority, uint32_t{PRIO_PROCESS}}, std::pair{SYS_ioprio_set, kOneProcess}}) {
        add(rows, {{call, {is(0, process), is(1, 0)}, kAllow},
                   {call, {is(0, process)}, kAsk},
                   // Threat: group 0 is the caller's group when the kernel reads it. Another thread may have
                   // moved the caller to a group of the host after the check.
                   {call, {is(0, process + 1), is(1, 0)}, kNotPermitted},
                   {call, {is(0, process + 1)}, kAsk},
                   {call, {}, kNotPermitted}});  // all processes of a user
    }
    rows.push_back({kProcessMrelease, {}, kNotPermitted});
}

void add_signals(Rows& rows) {
    // Signal 0 only checks that the process exists.
    add(rows, {{SYS_kill, {is(1, 0)}, kAllow},
               {SYS_kill, {is(0, 0xffffffff)}, kNotPermitted},
               {SYS_kill, {}, kAsk},
               {SYS_tkill, {is(1, 0)}, kAllow},
               {SYS_tkill, {}, kAsk},
               {SYS_tgkill, {is(2, 0)}, kAllow},
               {SYS_tgkill, {}, kAsk},
               {SYS_rt_sigqueueinfo, {}, kAsk},
               {SYS_rt_tgsigqueueinfo, {}, kAsk},
               {kPidfdSendSignal, {}, kAsk}});
    // With these the kernel sends a signal when a descriptor becomes ready.
    for (uint32_t command : {F_SETOWN, F_SETSIG, 15 /* F_SETOWN_EX */}) {
        rows.push_back({SYS_fcntl, {is(1, command)}, kNotPermitted});
    }
    constexpr uint32_t kSetOwner[] = {0x8901, 0x8902};  // FIOSETOWN, SIOCSPGRP
    for (uint32_t request : kSetOwner) rows.push_back({SYS_ioctl, {is(1, request)}, kNotPermitted});
}

// The doorman could not look at a process that hides from its own user, and would have to refuse it all. The
// call returns success without an effect; the other processes of the jail have the same rights anyway.
void add_visibility(Rows& rows) {
    rows.push_back({SYS_prctl, {is(0, PR_SET_DUMPABLE), is(1, 0)}, SECCOMP_RET_ERRNO | 0});
}

void add_system_v(Rows& rows) {
    for (int call : {SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl,
                     SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
                     // POSIX queues: Landlock covers opening them, but not removing them.
                     SYS_mq_open, SYS_mq_unlink})
        rows.push_back({call, {}, kNoAccess});
}

// No process answers. connect() and bind() are allowed: Unix sockets can't be made, and other sockets use the
// host's network or can't be made either. Terminals can be resized, because tmux and similar programs need
// that.
void refuse_questions(Rows& rows, const AnsweredCalls& calls) {
    std::erase_if(rows, [](const Row& row) {
        bool passes = row.call == SYS_connect || row.call == SYS_bind || row.call == SYS_ioctl;
        return passes && row.verdict == kAsk;
    });
    for (Row& row : rows) {
        if (row.verdict == kAsk) row.verdict = kNotPermitted;
    }
    if (calls.guards_sockets) rows.insert(rows.begin(), {SYS_socket, {is(0, AF_UNIX)}, kNoAccess});
}

}  // namespace

std::vector<Row> rows_for(const AnsweredCalls& calls) {
    Rows rows;
    if (calls.refuses_system_v) add_system_v(rows);
    add_internet(rows, calls);
    if (calls.internet == Internet::handed || calls.guards_sockets) rows.push_back({SYS_connect, {}, kAsk});
    if (calls.guards_sockets) add_sockets(rows);
    add_abstract_names(rows, calls.abstract_names);
    if (calls.guards_terminal_size) add_terminal_size(rows);
    if (calls.judges_renames) add_renames(rows);
    if (calls.judges_removals) add_removals(rows);
    if (calls.refuses_namespaces) add_namespaces(rows);
    if (calls.guards_attributes) add_attributes(rows);
    if (calls.guards_truncation) add_truncation(rows);
    if (calls.guards_processes) add_processes(rows);
    if (calls.guards_signals) add_signals(rows);
    if (!calls.is_answered) refuse_questions(rows, calls);
    bool asks = std::ranges::any_of(rows, [](const Row& row) { return row.verdict == kAsk; });
    // A process outside has power over the jail's user namespace and can read every process.
    if (asks && !calls.is_outside) add_visibility(rows);
    return rows;
}

}  // namespace doorman
