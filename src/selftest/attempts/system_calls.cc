// SPDX-License-Identifier: MIT
// Calls that the filter refuses. Their arguments are invalid, so the kernel can only reject them: any answer
// other than a plain refusal shows that the filter allowed the call, and the call does no harm.
#include <linux/keyctl.h>
#include <linux/userfaultfd.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <vector>

#include "base/format.h"
#include "selftest/attempt.h"
#include "selftest/attempts/foreign.h"
#include "selftest/catalogue.h"

namespace selftest {
namespace {

constexpr std::string_view kNeedsKernel = "closed on this host already";
constexpr std::string_view kKeyrings = "isolation.allow_keyrings=true";

constexpr long kNoFile = -1;
constexpr long kNoPointer = 0;
constexpr long kBadPointer = 1;

struct Call {
    std::string_view name;
    long number;
    std::vector<long> arguments;
    std::string_view excuse = {};
    std::string_view permitted_by = {};
};

const std::vector<Call>& calls() {
    static const std::vector<Call> kCalls = {
        {"io_uring_setup", SYS_io_uring_setup, {1, kNoPointer}, kNeedsKernel},
        {"io_uring_enter", SYS_io_uring_enter, {kNoFile, 0, 0, 0, kNoPointer, 0}, kNeedsKernel},
        {"io_uring_register", SYS_io_uring_register, {kNoFile, 0, kNoPointer, 0}, kNeedsKernel},
        {"userfaultfd", SYS_userfaultfd, {UFFD_USER_MODE_ONLY}, kNeedsKernel},
        {"bpf", SYS_bpf, {0, kNoPointer, 0}, kNeedsKernel},
        {"perf_event_open",
         SYS_perf_event_open,
         {kNoPointer, 0, -1, -1, 0},
         kNeedsKernel,
         "isolation.allow_perf=true"},
        {"add_key", SYS_add_key, {kNoPointer, kNoPointer, kNoPointer, 0, 0}, kNeedsKernel, kKeyrings},
        {"request_key", SYS_request_key, {kNoPointer, kNoPointer, kNoPointer, 0}, kNeedsKernel, kKeyrings},
        {"keyctl", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0}, kNeedsKernel, kKeyrings},
        {"personality", SYS_personality, {READ_IMPLIES_EXEC}, kNeedsKernel},
        {"process_madvise", SYS_process_madvise, {kNoFile, kNoPointer, 0, 0, 0}, kNeedsKernel},
        {"pidfd_getfd", SYS_pidfd_getfd, {kNoFile, 0, 0}, kNeedsKernel},
        {"kcmp", SYS_kcmp, {0, 0, 0, 0, 0}, kNeedsKernel},
        {"clone3", SYS_clone3, {kNoPointer, 0}, kNeedsKernel, kNested},
        {"name_to_handle_at",
         SYS_name_to_handle_at,
         {kNoFile, kBadPointer, kNoPointer, kNoPointer, 0},
         kNeedsKernel},
        {"open_by_handle_at", SYS_open_by_handle_at, {kNoFile, kNoPointer, 0}, kNeedsRoot},

        {"mount", SYS_mount, {kBadPointer, kBadPointer, kBadPointer, 0, kNoPointer}, kNeedsRoot, kNested},
        {"umount2", SYS_umount2, {kBadPointer, 0}, kNeedsRoot, kNested},
        {"pivot_root", SYS_pivot_root, {kBadPointer, kBadPointer}, kNeedsRoot, kNested},
        {"chroot", SYS_chroot, {kBadPointer}, kNeedsRoot, kNested},
        {"open_tree", SYS_open_tree, {kNoFile, kBadPointer, 0}, kNeedsKernel, kNested},
        {"move_mount", SYS_move_mount, {kNoFile, kBadPointer, kNoFile, kBadPointer, 0}, kNeedsRoot, kNested},
        {"fsopen", SYS_fsopen, {kBadPointer, 0}, kNeedsRoot, kNested},
        {"fsconfig", SYS_fsconfig, {kNoFile, 0, kNoPointer, kNoPointer, 0}, kNeedsKernel, kNested},
        {"fsmount", SYS_fsmount, {kNoFile, 0, 0}, kNeedsRoot, kNested},
        {"fspick", SYS_fspick, {kNoFile, kBadPointer, 0}, kNeedsRoot, kNested},
        {"mount_setattr", SYS_mount_setattr, {kNoFile, kBadPointer, 0, kNoPointer, 0}, kNeedsRoot, kNested},
        {"setns", SYS_setns, {kNoFile, 0}, kNeedsKernel, kNested},

        {"kexec_load", SYS_kexec_load, {0, 999, kNoPointer, 0}, kNeedsRoot},
        {"init_module", SYS_init_module, {kNoPointer, 0, kNoPointer}, kNeedsRoot},
        {"finit_module", SYS_finit_module, {kNoFile, kNoPointer, 0}, kNeedsRoot},
        {"delete_module", SYS_delete_module, {kBadPointer, 0}, kNeedsRoot},
        {"swapon", SYS_swapon, {kBadPointer, 0}, kNeedsRoot},
        {"swapoff", SYS_swapoff, {kBadPointer}, kNeedsRoot},
        {"reboot", SYS_reboot, {0, 0, 0, kNoPointer}, kNeedsRoot},
        {"acct", SYS_acct, {kBadPointer}, kNeedsRoot},
        {"quotactl", SYS_quotactl, {0xffffff, kNoPointer, 0, kNoPointer}, kNeedsKernel},
        {"settimeofday", SYS_settimeofday, {kBadPointer, kNoPointer}, kNeedsRoot},
        {"clock_settime", SYS_clock_settime, {0, kBadPointer}, kNeedsRoot},
        {"clock_adjtime", SYS_clock_adjtime, {0, kBadPointer}, kNeedsRoot},
        {"adjtimex", SYS_adjtimex, {kBadPointer}, kNeedsRoot},
        {"syslog", SYS_syslog, {10, kNoPointer, 0}, kNeedsRoot},
#ifdef __x86_64__
        {"iopl", SYS_iopl, {99}, kNeedsKernel},
        {"ioperm", SYS_ioperm, {0x10000, 1, 1}, kNeedsKernel},
        {"modify_ldt", SYS_modify_ldt, {99, kNoPointer, 0}, kNeedsKernel},
#endif
    };
    return kCalls;
}

struct Socket {
    std::string_view name;
    int family, type, protocol;
};

constexpr int kRaw = 3, kSequence = 5;
constexpr Socket kSockets[] = {
    {"packet", 17, kRaw, 0},         {"machine", 40, 1, 0},        {"crypto", 38, kSequence, 0},
    {"bluetooth", 31, kRaw, 1},      {"tipc", 30, kSequence, 0},   {"can", 29, kRaw, 1},
    {"ipsec-keys", 15, kRaw, 2},     {"xdp", 44, kRaw, 0},         {"raw", 2, kRaw, 1},
    {"raw6", 10, kRaw, 58},          {"audit", 16, kRaw, 9},       {"packet-filter", 16, kRaw, 12},
    {"kernel-events", 16, kRaw, 15}, {"socket-list", 16, kRaw, 4}, {"generic-netlink", 16, kRaw, 16},
};

bool is_refusal(int error) {
    constexpr int kRefusals[] = {EPERM, ENOSYS, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT};
    return std::ranges::find(kRefusals, error) != std::end(kRefusals);
}

Finding judge(long result) {
    int error = errno;
    if (result >= 0) return escaped("the call was made");
    return is_refusal(error) ? held(error) : escaped("the call got through: " + error_word(error));
}

Finding make_call(const Call& call) {
    std::vector<long> a = call.arguments;
    a.resize(6);
    return judge(::syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

}  // namespace

void add_system_calls(Probes& probes) {
    for (const Call& call : calls()) {
        probes.push_back({.name = "system-calls/" + std::string(call.name),
                          .what = "calls " + std::string(call.name),
                          .attempt = [&call](const World&) { return make_call(call); },
                          .excuse = call.excuse,
                          .permitted_by = call.permitted_by});
    }
    for (const Socket& row : kSockets) {
        probes.push_back(
            {.name = "system-calls/socket-" + std::string(row.name),
             .what = base::format("opens a socket of the kind '{}'", row.name),
             .attempt = [&row](const World&) { return judge(::socket(row.family, row.type, row.protocol)); },
             .excuse = "this kernel lacks it, or keeps it for root"});
    }
    add_foreign_calls(probes);
}

}  // namespace selftest
