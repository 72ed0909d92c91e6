// SPDX-License-Identifier: MIT
// System calls with arguments that do no harm if the call passes: a bad descriptor, a bad address, a process
// that does not exist. The filter decides before the kernel checks the arguments, so its verdict differs from
// the kernel's.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "differential/report.h"

namespace differential {
namespace {

struct Call {
    const char* name;
    long number;
    long arguments[6] = {};
};

constexpr long kBad = -1;

constexpr Call kCalls[] = {
    {"io_uring_setup", SYS_io_uring_setup, {0, 0}},
    {"io_uring_enter", SYS_io_uring_enter, {kBad}},
    {"io_uring_register", SYS_io_uring_register, {kBad}},
    {"userfaultfd", SYS_userfaultfd, {kBad}},
    {"bpf", SYS_bpf, {kBad}},
    {"perf_event_open", SYS_perf_event_open, {0, 0, kBad, kBad, kBad}},
    {"process_madvise", SYS_process_madvise, {kBad}},
    {"kcmp", SYS_kcmp, {kBad}},
    {"mount", SYS_mount, {0, 0, 0, 0, 0}},
    {"umount2", SYS_umount2, {0, 0}},
    {"pivot_root", SYS_pivot_root, {0, 0}},
    {"chroot", SYS_chroot, {0}},
    {"open_tree", SYS_open_tree, {kBad, 0, 0}},
    {"open_tree_attr", 467, {kBad, 0, 0}},
    {"move_mount", SYS_move_mount, {kBad, 0, kBad, 0, 0}},
    {"fsopen", SYS_fsopen, {0, 0}},
    {"fsconfig", SYS_fsconfig, {kBad}},
    {"fsmount", SYS_fsmount, {kBad}},
    {"fspick", SYS_fspick, {kBad}},
    {"mount_setattr", SYS_mount_setattr, {kBad, 0, 0, 0, 0}},
    {"name_to_handle_at", SYS_name_to_handle_at, {kBad}},
    {"open_by_handle_at", SYS_open_by_handle_at, {kBad}},
    {"setns", SYS_setns, {kBad}},
    {"unshare nothing", SYS_unshare, {0}},
    {"unshare user", SYS_unshare, {CLONE_NEWUSER}},
    {"unshare mounts", SYS_unshare, {CLONE_NEWNS}},
    {"unshare network", SYS_unshare, {CLONE_NEWNET}},
    {"clone3", SYS_clone3, {0, 0}},
    {"openat2", SYS_openat2, {kBad, 0, 0, 0}},
    {"pidfd_open", SYS_pidfd_open, {kBad}},
    {"pidfd_getfd", SYS_pidfd_getfd, {kBad}},
    {"pidfd_send_signal", SYS_pidfd_send_signal, {kBad}},
    {"ptrace", SYS_ptrace, {kBad}},
    {"process_vm_writev", SYS_process_vm_writev, {kBad}},
    {"add_key", SYS_add_key, {0}},
    {"request_key", SYS_request_key, {0}},
    {"keyctl", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0}},
    {"kexec_load", SYS_kexec_load, {0, kBad}},
    {"reboot", SYS_reboot, {0}},
    {"swapon", SYS_swapon, {0}},
    {"swapoff", SYS_swapoff, {0}},
    {"acct", SYS_acct, {0}},
    {"quotactl", SYS_quotactl, {kBad}},
    {"init_module", SYS_init_module, {0}},
    {"finit_module", SYS_finit_module, {kBad}},
    {"delete_module", SYS_delete_module, {0}},
    {"settimeofday", SYS_settimeofday, {kBad}},
    {"clock_settime", SYS_clock_settime, {0, 0}},
    {"adjtimex", SYS_adjtimex, {0}},
    {"syslog", SYS_syslog, {kBad}},
    {"vhangup", SYS_vhangup, {}},
    {"sethostname", SYS_sethostname, {0, kBad}},
    {"setdomainname", SYS_setdomainname, {0, kBad}},
    {"setuid to root", SYS_setuid, {0}},
    {"setgroups", SYS_setgroups, {0, 0}},
    {"capset", SYS_capset, {0, 0}},
    {"personality", SYS_personality, {0xffffffff}},
    {"mbind", SYS_mbind, {0}},
    {"move_pages", SYS_move_pages, {kBad}},
    {"lookup_dcookie", SYS_lookup_dcookie, {0}},
    {"fanotify_init", SYS_fanotify_init, {kBad}},
    {"landlock_create_ruleset", SYS_landlock_create_ruleset, {0, 0, 0}},
    {"seccomp", SYS_seccomp, {kBad}},
    {"memfd_create", SYS_memfd_create, {0, 0}},
    {"memfd_secret", SYS_memfd_secret, {kBad}},
    {"statmount", 457, {0, 0, 0, 0}},
    {"listmount", 458, {0, 0, 0, 0}},
    {"ioctl TIOCSTI", SYS_ioctl, {kBad, TIOCSTI}},
    {"ioctl TIOCLINUX", SYS_ioctl, {kBad, TIOCLINUX}},
    {"ioctl TIOCSTI, upper bits", SYS_ioctl, {kBad, static_cast<long>(0xffffffff00000000) | TIOCSTI}},
    {"close_range", SYS_close_range, {100000, 99999, 0}},
};

// Each call runs in a child, so that a call that passes does not change the walker.
int verdict_of(const Call& call) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    pid_t child = ::fork();
    if (child == 0) {
        const long* a = call.arguments;
        int number = ::syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]) < 0 ? errno : 0;
        (void)!::write(ends[1], &number, sizeof number);
        ::_exit(0);
    }
    ::close(ends[1]);
    int number = -1;
    (void)!::read(ends[0], &number, sizeof number);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return number;
}

void tell_objects(Report& report) {
    int queue = ::msgget(IPC_PRIVATE, 0600);
    report.verdict("makes", "message queue", queue < 0 ? errno : 0);
    if (queue >= 0) ::msgctl(queue, IPC_RMID, nullptr);
    int memory = ::shmget(IPC_PRIVATE, 4096, 0600);
    report.verdict("makes", "shared memory", memory < 0 ? errno : 0);
    if (memory >= 0) ::shmctl(memory, IPC_RMID, nullptr);
    int semaphore = ::semget(IPC_PRIVATE, 1, 0600);
    report.verdict("makes", "semaphore", semaphore < 0 ? errno : 0);
    if (semaphore >= 0) ::semctl(semaphore, 0, IPC_RMID);
    base::Fd terminal(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
    report.verdict("makes", "terminal", terminal ? 0 : errno);
    void* page =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    report.verdict("makes", "page that can be written and executed", page == MAP_FAILED ? errno : 0);
}

}  // namespace

void tell_calls(Report& report) {
    for (const Call& call : kCalls) report.verdict("call", call.name, verdict_of(call));
    report.say(
        "landlock", "version",
        std::to_string(::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION)));
    tell_objects(report);
}

void tell_sockets(Report& report) {
    for (int family = 0; family < AF_MAX; ++family) {
        std::string verdicts;
        for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
            base::Fd fd(::socket(family, type | SOCK_CLOEXEC, 0));
            verdicts += " " + name_of_errno(fd ? 0 : errno);
        }
        report.say("sockets-of-family", std::to_string(family), verdicts);
    }
    for (int protocol = 0; protocol < 32; ++protocol) {
        base::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
        report.verdict("netlink", std::to_string(protocol), fd ? 0 : errno);
    }
}

}  // namespace differential
