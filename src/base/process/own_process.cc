// SPDX-License-Identifier: MIT
#include "base/process/own_process.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace base {
namespace {

struct Area {
    char* begin = nullptr;
    size_t size = 0;
};

Area& arguments() {
    static Area area;
    return area;
}

}  // namespace

void remember_arguments(int argc, char** argv) {
    if (argc < 1) return;
    // The kernel stores them contiguously.
    char* last = argv[argc - 1];
    arguments() = {argv[0], static_cast<size_t>(last + std::strlen(last) + 1 - argv[0])};
}

void replace_arguments(std::string_view title) {
    Area area = arguments();
    if (area.size == 0) return;
    std::memset(area.begin, 0, area.size);
    std::memcpy(area.begin, title.data(), std::min(title.size(), area.size - 1));
}

void forget_environment() {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        std::memset(*variable, 0, std::strlen(*variable));
    }
    ::clearenv();
}

namespace {

// Drops the pages of read-only segments only, so that no data is lost.
int give_back(struct dl_phdr_info* object, size_t /*size*/, void* /*data*/) {
    auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
        uintptr_t begin = (object->dlpi_addr + part.p_vaddr) / page * page;
        uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_memsz;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives addresses as numbers
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

void rest() {
    ::malloc_trim(0);
    ::dl_iterate_phdr(give_back, nullptr);
}

}  // namespace base
