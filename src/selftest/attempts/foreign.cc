// SPDX-License-Identifier: MIT
#include "selftest/attempts/foreign.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/file.h"
#include "selftest/attempt.h"

namespace selftest {
namespace {

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

}  // namespace

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

}  // namespace selftest
