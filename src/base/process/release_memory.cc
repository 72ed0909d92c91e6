// SPDX-License-Identifier: MIT
#include "base/process/release_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace base {
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

int poll_and_rest(struct pollfd* watched, nfds_t count, int timeout, bool& has_rested) {
    auto pause = static_cast<int>(kShortBreak.count());
    bool waits_longer = timeout < 0 || timeout > pause;
    if (has_rested || !waits_longer) return ::poll(watched, count, timeout);
    int ready = ::poll(watched, count, pause);
    if (ready != 0) return ready;
    rest();
    has_rested = true;
    return timeout < 0 ? ::poll(watched, count, timeout) : ::poll(watched, count, timeout - pause);
}

}  // namespace base
