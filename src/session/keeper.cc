// SPDX-License-Identifier: MIT
#include "session/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/descriptors.h"

namespace session {
namespace {

constexpr int kLongestDeath = 10'000;  // milliseconds

bool becomes_readable(int fd, int timeout) {
    struct pollfd watched = {fd, POLLIN, 0};
    int ready = 0;
    while ((ready = ::poll(&watched, 1, timeout)) < 0 && errno == EINTR) continue;
    return ready > 0;
}

[[noreturn]] void keep(Placeholders& placeholders, int life, int stage) {
    // Neither the caller's terminal nor a kill of its group is to reach this process, and it holds nothing of
    // the caller's open.
    ::setsid();
    (void)!::chdir("/");
    base::close_others({placeholders.descriptor(), life, stage});
    base::fill_standard_descriptors();
    becomes_readable(life, -1);
    // A jail that is still alive keeps its mount points; the next launch takes them away.
    if (becomes_readable(stage, kLongestDeath)) placeholders.release();
    ::_exit(0);
}

}  // namespace

void Keeper::start(Placeholders& placeholders, int stage) {
    int ends[2];
    if (placeholders.is_empty() || stage < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return;
    base::Fd life(ends[0]);
    life_ = base::Fd(ends[1]);
    process_ = ::fork();
    if (process_ == 0) keep(placeholders, life.get(), stage);
}

void Keeper::dismiss() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

}  // namespace session
