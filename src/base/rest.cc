// SPDX-License-Identifier: MIT
#include "base/rest.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

// Of the linker: where the program begins and its code ends.
extern "C" char __executable_start;  // NOLINT(bugprone-reserved-identifier)
extern "C" char etext;

namespace base {

void rest() {
    ::malloc_trim(0);
    auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto begin = reinterpret_cast<uintptr_t>(&__executable_start) / page * page;
    auto end = (reinterpret_cast<uintptr_t>(&etext) + page - 1) / page * page;
    // Nobody writes there, so that nothing is lost.
    ::madvise(reinterpret_cast<void*>(begin), end - begin,
              MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
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
