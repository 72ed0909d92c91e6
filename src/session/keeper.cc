// SPDX-License-Identifier: MIT
#include "session/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptors.h"
#include "base/remove_tree.h"
#include "base/rest.h"
#include "session/named_socket.h"
#include "session/record.h"
#include "session/trash.h"

namespace session {
namespace {

constexpr int kLongestDeath = 10'000;  // milliseconds

bool becomes_readable(int fd, int timeout) {
    struct pollfd watched = {fd, POLLIN, 0};
    bool has_rested = false;
    int ready = 0;
    while ((ready = base::poll_and_rest(&watched, 1, timeout, has_rested)) < 0 && errno == EINTR) continue;
    return ready > 0;
}

// Not a pipe: writing to one whose reader was killed would leave a SIGPIPE behind.
bool make_pair(int (&ends)[2]) {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
}

// False when the supervisor was killed: then nothing was written.
bool was_dismissed(int life) {
    becomes_readable(life, -1);
    char byte;
    return ::read(life, &byte, 1) == 1;
}

// Neither the caller's terminal nor a kill of its group is to reach this process, and it holds nothing of the
// caller's open. The terminal can be set right only from within its session.
void step_aside(const Kept& kept, int life, int stage) {
    if (kept.terminal) {
        ::setpgid(0, 0);
    } else {
        ::setsid();
    }
    (void)!::chdir("/");
    // Not the lock of the session's directory, which says that the supervisor lives.
    base::close_others({kept.placeholders.descriptor(), kept.terminal.descriptor(), life, stage});
    base::fill_standard_descriptors();
}

void tidy(const std::string& state_directory, std::time_t keep) {
    empty_trash(state_directory);
    remove_old_records(state_directory + "/sessions", keep, ::time(nullptr));
    for (std::string_view helper : {"notify", "slurm/sockets"})
        remove_left_sockets(state_directory + "/" + std::string(helper));
}

}  // namespace

void Keeper::start(Kept kept, int stage) {
    int ends[2];
    if (kept.is_empty() || stage < 0 || !make_pair(ends)) return;
    base::Fd life(ends[0]);
    life_ = base::Fd(ends[1]);
    process_ = ::fork();
    if (process_ < 0) life_.reset();
    if (process_ != 0) return;
    step_aside(kept, life.get(), stage);
    // A jail that is still alive keeps its mount points; the next launch takes them away.
    if (!was_dismissed(life.get()) && becomes_readable(stage, kLongestDeath)) {
        kept.terminal.recover_for_the_dead();
        kept.placeholders.release();
        if (kept.cgroup) kept.cgroup->remove();
        kept.place.remove();
        if (!kept.directory.is_empty()) base::remove_tree(kept.directory.path());
    }
    tidy(state_directory_, keep_);
    ::_exit(0);
}

void Keeper::dismiss() {
    if (is_dismissed_) return;
    is_dismissed_ = true;
    // Without a keeper, or with one that was killed, it is done here and now.
    if (!life_ || ::send(life_.get(), "d", 1, MSG_NOSIGNAL) != 1) tidy(state_directory_, keep_);
}

}  // namespace session
