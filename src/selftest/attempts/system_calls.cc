// SPDX-License-Identifier: MIT
// Calls that the filter refuses. Their arguments are invalid, so the kernel can only reject them: any answer
// other than a plain refusal shows that the filter allowed the call, and the call does no harm.
#include <elf.h>
#include <linux/keyctl.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

// System calls by another convention than this program's (32-bit, x32). A filter that checks only its own
// convention would allow them.

constexpr int kExitStatus = 42;

// Machine code that makes one system call, exit(42), by the 32-bit convention.
#if defined(__x86_64__)
constexpr Elf32_Half kMachine = EM_386;
constexpr unsigned char kCode[] = {0xb8, 1, 0, 0, 0, 0xbb, kExitStatus, 0, 0, 0, 0xcd, 0x80};
#else
constexpr Elf32_Half kMachine = EM_ARM;
constexpr unsigned char kCode[] = {0x01, 0x70, 0xa0, 0xe3, kExitStatus, 0x00,
                                   0xa0, 0xe3, 0x00, 0x00, 0x00,        0xef};
#endif

struct Image {
    Elf32_Ehdr header;
    Elf32_Phdr segment;
    unsigned char code[sizeof kCode];
};

Image make_image() {
    constexpr Elf32_Addr kPlace = 0x10000;
    Image image = {};
    std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    image.header.e_ident[EI_DATA] = ELFDATA2LSB;
    image.header.e_ident[EI_VERSION] = EV_CURRENT;
    image.header.e_type = ET_EXEC;
    image.header.e_machine = kMachine;
    image.header.e_version = EV_CURRENT;
    image.header.e_entry = kPlace + offsetof(Image, code);
    image.header.e_phoff = offsetof(Image, segment);
    image.header.e_flags = kMachine == EM_ARM ? 0x05000000 : 0;  // version 5 of the EABI
    image.header.e_ehsize = sizeof image.header;
    image.header.e_phentsize = sizeof image.segment;
    image.header.e_phnum = 1;
    image.segment.p_type = PT_LOAD;
    image.segment.p_vaddr = image.segment.p_paddr = kPlace;
    image.segment.p_filesz = image.segment.p_memsz = sizeof image;
    image.segment.p_flags = PF_R | PF_X;
    image.segment.p_align = kPlace;
    std::memcpy(image.code, kCode, sizeof kCode);
    return image;
}

Finding run_32_bit_program(const World&) {
    base::Fd file(::memfd_create("program", MFD_CLOEXEC));
    Image image = make_image();
    std::string_view bytes(reinterpret_cast<const char*>(&image), sizeof image);
    if (!file || !base::write_all(file.get(), bytes)) return held(errno);
    pid_t child = ::fork();
    if (child == 0) {
        char name[] = "program";
        char* words[] = {name, nullptr};
        ::fexecve(file.get(), words, environ);
        ::_exit(errno == ENOEXEC ? 126 : 127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kExitStatus) return escaped("its call was carried out");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) return held("killed by the filter");
    return held("this machine does not run it");
}

#if defined(__x86_64__)
Finding call_32_bit(const World&) {
    long result = 20;  // getpid in the 32-bit table
    asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result > 0 ? escaped("the call was carried out") : held(static_cast<int>(-result));
}

Finding call_x32(const World&) {
    constexpr long kX32 = 0x40000000;
    return outcome(::syscall(kX32 | SYS_getpid), "the call was carried out");
}
#endif

void add_foreign_calls(Probes& probes) {
    constexpr std::string_view kExcuse = "this kernel or processor has no such mode";
    probes.push_back({.name = "system-calls/foreign-program",
                      .what = "runs a 32-bit program, whose calls have other numbers",
                      .attempt = run_32_bit_program,
                      .excuse = kExcuse});
#if defined(__x86_64__)
    probes.push_back({.name = "system-calls/foreign-call",
                      .what = "makes a call by the 32-bit convention",
                      .attempt = call_32_bit,
                      .excuse = kExcuse});
    probes.push_back({.name = "system-calls/foreign-x32",
                      .what = "makes a call by the x32 convention",
                      .attempt = call_x32,
                      .excuse = kExcuse});
#endif
}

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
    std::string_view listed;  // its name in /proc/net/protocols
};

constexpr int kRaw = 3, kSequence = 5, kNetlink = 16;
constexpr Socket kSockets[] = {
    {"packet", 17, kRaw, 0, "PACKET"},
    {"machine", 40, 1, 0, "AF_VSOCK"},
    {"crypto", 38, kSequence, 0, "ALG"},
    {"bluetooth", 31, kRaw, 1, "HCI"},
    {"tipc", 30, kSequence, 0, "TIPC"},
    {"can", 29, kRaw, 1, "CAN_RAW"},
    {"ipsec-keys", 15, kRaw, 2, "KEY"},
    {"xdp", 44, kRaw, 0, "XDP"},
    {"raw", 2, kRaw, 1, "RAW"},
    {"raw6", 10, kRaw, 58, "RAWv6"},
    {"audit", kNetlink, kRaw, 9, "NETLINK"},
    {"packet-filter", kNetlink, kRaw, 12, "NETLINK"},
    {"kernel-events", kNetlink, kRaw, 15, "NETLINK"},
    {"socket-list", kNetlink, kRaw, 4, "NETLINK"},
    {"generic-netlink", kNetlink, kRaw, 16, "NETLINK"},
};

// Whether a line of the file has this word in the column.
bool lists(const char* file, size_t column, std::string_view word) {
    const std::string text = content_of(file);
    for (std::string_view line : base::split(text, '\n')) {
        size_t at = 0;
        for (std::string_view field : base::split(line, ' ')) {
            if (field.empty()) continue;
            if (at == column && field == word) return true;
            if (++at > column) break;
        }
    }
    return false;
}

// Outside, socket() would load the module of a family that the kernel does not have yet. A self-test does not
// change the machine. Inside, the filter refuses the call before the kernel looks for a module.
bool would_load_module(const Socket& socket) {
    if (!lists("/proc/net/protocols", 0, socket.listed)) return true;
    return socket.family == kNetlink && !lists("/proc/net/netlink", 1, std::to_string(socket.protocol));
}

bool is_refusal(int error) {
    constexpr int kRefusals[] = {EPERM, ENOSYS, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT};
    return std::ranges::find(kRefusals, error) != std::end(kRefusals);
}

Finding judge(long result) {
    int error = errno;
    if (result >= 0) return escaped("the call was made");
    return is_refusal(error) ? held(error) : escaped("the call got through: " + error_word(error));
}

Finding open_socket(const Socket& row, const World& world) {
    if (!world.is_inside && would_load_module(row)) return held("the kernel has not loaded it");
    return judge(::socket(row.family, row.type, row.protocol));
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
        probes.push_back({.name = "system-calls/socket-" + std::string(row.name),
                          .what = base::format("opens a socket of the kind '{}'", row.name),
                          .attempt = [&row](const World& world) { return open_socket(row, world); },
                          .excuse = "this kernel lacks it, has not loaded it, or keeps it for root"});
    }
    add_foreign_calls(probes);
}

}  // namespace selftest
