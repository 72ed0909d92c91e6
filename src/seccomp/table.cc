// SPDX-License-Identifier: MIT
#include "seccomp/table.h"

#include <cerrno>

#include "seccomp/kernel.h"

namespace seccomp {
namespace {

using enum Switch;

struct Plain {
    std::string_view name;
    int number;
    int error;
    Switch lifted_by;
    std::string_view reason;
};

// Refused whatever the arguments are.
constexpr Plain kPlain[] = {
    // Asynchronous calls that no filter can see. EPERM instead of a kill, because Node and others probe for
    // them.
    {"io_uring_setup", 0, EPERM, never, "runs system calls that no filter sees"},
    {"io_uring_enter", 0, EPERM, never, "runs system calls that no filter sees"},
    {"io_uring_register", 0, EPERM, never, "runs system calls that no filter sees"},

    // Parts of the kernel with many past vulnerabilities that a build or an agent does not need.
    {"userfaultfd", 0, EPERM, never,
     "lets a program stop the kernel in the middle of a copy; used in many kernel exploits"},
    {"bpf", 0, EPERM, never, "loads programs into the kernel"},
    {"perf_event_open", 0, EPERM, perf, "reads the kernel's counters and samples; a large attack surface"},
    {"lookup_dcookie", 0, EPERM, never, "names files by number, without a path"},
    {"process_madvise", 0, EPERM, never, "changes the memory of another process"},
    {"fanotify_init", 0, EPERM, never, "watches what other processes do with files"},
    {"fanotify_mark", 0, EPERM, never, "watches what other processes do with files"},
    {"memfd_secret", 447, ENOSYS, never, "memory that no tracer and no memory limit sees"},
    {"cachestat", 451, ENOSYS, never, "tells which parts of a file others have read"},
    {"lsm_set_self_attr", 460, EPERM, never, "changes what a security module allows"},
    {"kcmp", 0, EPERM, never, "tells kernel addresses apart"},
    {"vm86", 0, EPERM, never, "an old mode of the processor"},
    {"vm86old", 0, EPERM, never, "an old mode of the processor"},
    {"modify_ldt", 0, EPERM, never, "an old mode of the processor"},
    {"iopl", 0, EPERM, never, "reaches input and output ports"},
    {"ioperm", 0, EPERM, never, "reaches input and output ports"},

    // The view of the file system must not change any more.
    {"mount", 0, EPERM, nested_namespaces, "would change the view of the file system"},
    {"umount", 0, EPERM, nested_namespaces, "would change the view of the file system"},
    {"umount2", 0, EPERM, nested_namespaces, "would change the view of the file system"},
    {"pivot_root", 0, EPERM, nested_namespaces, "would change the view of the file system"},
    {"chroot", 0, EPERM, nested_namespaces, "would change the view of the file system"},
    {"open_tree", 428, EPERM, nested_namespaces, "would change the view of the file system"},
    {"open_tree_attr", 467, EPERM, nested_namespaces, "would change the view of the file system"},
    {"move_mount", 429, EPERM, nested_namespaces, "would change the view of the file system"},
    {"fsopen", 430, EPERM, nested_namespaces, "would mount a file system"},
    {"fsconfig", 431, EPERM, nested_namespaces, "would mount a file system"},
    {"fsmount", 432, EPERM, nested_namespaces, "would mount a file system"},
    {"fspick", 433, EPERM, nested_namespaces, "would mount a file system"},
    {"mount_setattr", 442, EPERM, nested_namespaces, "would change the view of the file system"},
    {"name_to_handle_at", 0, EPERM, never, "names files without a path"},
    {"open_by_handle_at", 0, EPERM, never, "opens files without a path"},

    // A namespace gives its creator every capability inside, and so access to most of the kernel's attack
    // surface.
    {"setns", 0, EPERM, nested_namespaces, "would enter another namespace"},
    {"clone3", 435, ENOSYS, nested_namespaces,
     "hides its flags from the filter; libraries fall back to clone"},

    // openat2 hides the mode of a new file from the filter; libraries fall back to openat.
    {"openat2", 437, ENOSYS, never, "hides set-user-ID bits of a new file from the filter"},

    {"pidfd_getfd", 438, EPERM, never, "takes a descriptor out of another process"},
    {"ptrace", 0, EPERM, trace, "traces another process"},
    {"process_vm_readv", 0, EPERM, trace, "reads the memory of another process"},
    {"process_vm_writev", 0, EPERM, trace, "writes the memory of another process"},

    {"add_key", 0, EPERM, keyrings, "the kernel's keyrings hold the caller's keys"},
    {"request_key", 0, EPERM, keyrings, "the kernel's keyrings hold the caller's keys"},
    {"keyctl", 0, EPERM, keyrings, "the kernel's keyrings hold the caller's keys"},

    // Only administrators need these.
    {"kexec_load", 0, EPERM, never, "replaces the running kernel"},
    {"kexec_file_load", 0, EPERM, never, "replaces the running kernel"},
    {"reboot", 0, EPERM, never, "stops the machine"},
    {"swapon", 0, EPERM, never, "an administrator's act"},
    {"swapoff", 0, EPERM, never, "an administrator's act"},
    {"acct", 0, EPERM, never, "an administrator's act"},
    {"quotactl", 0, EPERM, never, "an administrator's act"},
    {"quotactl_fd", 443, EPERM, never, "an administrator's act"},
    {"init_module", 0, EPERM, never, "loads code into the kernel"},
    {"finit_module", 0, EPERM, never, "loads code into the kernel"},
    {"delete_module", 0, EPERM, never, "changes the kernel"},
    {"settimeofday", 0, EPERM, never, "sets the clock"},
    {"clock_settime", 0, EPERM, never, "sets the clock"},
    {"clock_adjtime", 0, EPERM, never, "sets the clock"},
    {"adjtimex", 0, EPERM, never, "sets the clock"},
    {"stime", 0, EPERM, never, "sets the clock"},
    {"syslog", 0, EPERM, never, "reads the kernel's log, with its addresses"},
    {"vhangup", 0, EPERM, never, "hangs up the terminal"},
    {"nfsservctl", 0, EPERM, never, "an administrator's act"},
};

constexpr uint64_t kLow32 = 0xffffffff;

Condition masked(uint8_t argument, uint64_t mask, uint64_t value) {
    return {Condition::Kind::masked_equal, argument, mask, value};
}

void add_namespaces(std::vector<Row>& table) {
    for (uint64_t flag : kNamespaceFlags) {
        for (std::string_view call : {"clone", "unshare"}) {
            table.push_back({call,
                             0,
                             EPERM,
                             new_namespaces,
                             "a new namespace gives its maker every capability inside it",
                             "a flag for a new namespace",
                             {masked(0, flag, flag)}});
        }
    }
}

void add_terminal(std::vector<Row>& table) {
    // The kernel reads only the low 32 bits of the request, and so do we.
    for (uint64_t request : {kTiocsti, kTioclinux}) {
        table.push_back({"ioctl",
                         0,
                         EPERM,
                         never,
                         "types into the terminal as if the user had",
                         request == kTiocsti ? "TIOCSTI" : "TIOCLINUX",
                         {masked(1, kLow32, request)}});
    }
}

void add_sockets(std::vector<Row>& table) {
    constexpr std::string_view kReason = "a family of sockets that no program here needs";
    constexpr std::string_view kWhen = "a family other than UNIX, INET, INET6 and NETLINK";
    for (std::string_view call : {"socket", "socketpair"}) {
        table.push_back({call, 0, EAFNOSUPPORT, never, kReason, kWhen, {masked(0, kLow32, 0)}});
        for (uint64_t family = 3; family <= kHighestAllowedFamily; ++family) {
            if (family == kFamilyInet6 || family == kFamilyNetlink) continue;
            table.push_back({call, 0, EAFNOSUPPORT, never, kReason, kWhen, {masked(0, kLow32, family)}});
        }
        table.push_back({call,
                         0,
                         EAFNOSUPPORT,
                         never,
                         kReason,
                         kWhen,
                         {{Condition::Kind::greater, 0, 0, kHighestAllowedFamily}}});
    }
    // The error of a kernel without that protocol, so that programs continue without it.
    table.push_back({"socket",
                     0,
                     EPROTONOSUPPORT,
                     never,
                     "a kernel interface beyond the list of network interfaces",
                     "NETLINK with a protocol other than ROUTE",
                     {masked(0, kLow32, kFamilyNetlink), {Condition::Kind::not_equal, 2, 0, 0}}});
    for (uint64_t family : {kFamilyInet, kFamilyInet6}) {
        for (uint64_t type : {kSocketRaw, kSocketPacket}) {
            table.push_back({"socket",
                             0,
                             EPERM,
                             never,
                             "raw packets get around every rule about addresses",
                             "a raw socket",
                             {masked(0, kLow32, family), masked(1, kSocketTypeMask, type)}});
        }
    }
}

// Any user who can reach a set-user-ID file in the project could act as the caller.
void add_set_id_bits(std::vector<Row>& table) {
    struct ModeCall {
        std::string_view name;
        int number;
        uint8_t mode;
        int flags;  // argument with O_CREAT, or -1: the mode is always used
    };
    constexpr ModeCall kCalls[] = {{"chmod", 0, 1, -1},       {"fchmod", 0, 1, -1}, {"fchmodat", 0, 2, -1},
                                   {"fchmodat2", 452, 2, -1}, {"creat", 0, 1, -1},  {"mknod", 0, 1, -1},
                                   {"mknodat", 0, 2, -1},     {"open", 0, 2, 1},    {"openat", 0, 3, 2}};
    for (const ModeCall& call : kCalls) {
        for (uint64_t bit : {kSetUserId, kSetGroupId}) {
            constexpr std::string_view kReason =
                "a program with that bit would act as its owner for every user who runs it";
            constexpr std::string_view kWhen = "a mode with the set-user-ID or set-group-ID bit";
            if (call.flags < 0) {
                table.push_back(
                    {call.name, call.number, EPERM, never, kReason, kWhen, {masked(call.mode, bit, bit)}});
                continue;
            }
            for (uint64_t creates : {kCreate, kTemporary}) {
                table.push_back({call.name,
                                 call.number,
                                 EPERM,
                                 never,
                                 kReason,
                                 kWhen,
                                 {masked(static_cast<uint8_t>(call.flags), creates, creates),
                                  masked(call.mode, bit, bit)}});
            }
        }
    }
}

// Personalities change the layout and protection of memory. Harmless ones are allowed, and so is the query
// (all bits set): a value is refused for any dangerous bit if bit 31 is clear, and for any clear bit if bit
// 31 is set.
void add_personalities(std::vector<Row>& table) {
    constexpr std::string_view kReason = "would weaken the protection of memory";
    constexpr std::string_view kWhen = "a personality other than the harmless ones";
    constexpr uint64_t kTop = 1u << 31;
    for (uint64_t bit : kDangerousPersonalities) {
        table.push_back({"personality", 0, EPERM, never, kReason, kWhen, {masked(0, kTop | bit, bit)}});
    }
    for (int position = 0; position < 31; ++position) {
        table.push_back(
            {"personality", 0, EPERM, never, kReason, kWhen, {masked(0, kTop | 1u << position, kTop)}});
    }
}

// The inner stage sets the limit to one, and only this keeps a crash away from the host's crash handler; with
// zero the kernel would run the handler again. Programs that set it want core files off, which is already the
// case, and some exit if the call fails: so the call reports success.
void add_core_limit(std::vector<Row>& table) {
    constexpr std::string_view kReason =
        "a crash in the jail must not reach the crash handler of the host; it stays off";
    constexpr std::string_view kWhen = "setting the size of core files";
    const Condition sets = {Condition::Kind::not_equal, 2, 0, 0};
    table.push_back({"setrlimit", 0, 0, never, kReason, kWhen, {masked(0, kLow32, kLimitCore)}});
    table.push_back({"prlimit64",
                     0,
                     0,
                     never,
                     kReason,
                     kWhen,
                     {masked(1, kLow32, kLimitCore), sets, masked(3, ~uint64_t{0}, 0)}});
    table.push_back({"prlimit64",
                     0,
                     EPERM,
                     never,
                     kReason,
                     "setting the size of core files and asking for the old one",
                     {masked(1, kLow32, kLimitCore), sets, {Condition::Kind::not_equal, 3, 0, 0}}});
}

std::vector<Row> make_rows() {
    std::vector<Row> table;
    for (const Plain& row : kPlain) {
        table.push_back({row.name, row.number, row.error, row.lifted_by, row.reason, "", {}});
    }
    add_namespaces(table);
    add_terminal(table);
    add_sockets(table);
    add_set_id_bits(table);
    add_personalities(table);
    add_core_limit(table);
    return table;
}

}  // namespace

bool Switches::lifts(Switch which) const {
    switch (which) {
        case never:
            return false;
        case nested_namespaces:
            return allow_nested_namespaces;
        case new_namespaces:
            return allow_nested_namespaces || leaves_namespaces_to_listener;
        case trace:
            return allow_ptrace;
        case perf:
            return allow_perf;
        case keyrings:
            return allow_keyrings;
    }
    return false;
}

std::string_view setting_of(Switch which) {
    switch (which) {
        case never:
            return "";
        case nested_namespaces:
        case new_namespaces:
            return "isolation.allow_nested_namespaces";
        case trace:
            return "isolation.allow_ptrace";
        case perf:
            return "isolation.allow_perf";
        case keyrings:
            return "isolation.allow_keyrings";
    }
    return "";
}

const std::vector<Row>& rows() {
    static const std::vector<Row> kRows = make_rows();
    return kRows;
}

std::vector<const Row*> rows_for(std::string_view name) {
    std::vector<const Row*> found;
    for (const Row& row : rows()) {
        if (row.name == name) found.push_back(&row);
    }
    return found;
}

std::string_view error_name(int error) {
    switch (error) {
        case EPERM:
            return "EPERM";
        case ENOSYS:
            return "ENOSYS";
        case EAFNOSUPPORT:
            return "EAFNOSUPPORT";
        case EPROTONOSUPPORT:
            return "EPROTONOSUPPORT";
        default:
            return "an error";
    }
}

}  // namespace seccomp
