// SPDX-License-Identifier: MIT
#pragma once

#include <ctime>
#include <tuple>

#include "review/review.h"

namespace testing_support {

// The start of a session for which everything written before counts as old: waits until the clock of file
// systems, which may run behind, has passed the exact one.
inline timespec start_of_session() {
    timespec exact = {}, started = {};
    ::clock_gettime(CLOCK_REALTIME, &exact);
    do {
        started = review::start();
    } while (std::tie(started.tv_sec, started.tv_nsec) <= std::tie(exact.tv_sec, exact.tv_nsec));
    return started;
}

}  // namespace testing_support
