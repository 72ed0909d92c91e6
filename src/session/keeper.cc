// SPDX-License-Identifier: MIT
#include "session/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/descriptors.h"
#include "base/own_place.h"
#include "base/path.h"
#include "base/remove_tree.h"
#include "base/rest.h"
#include "session/known_sessions.h"
#include "session/left_builders.h"
#include "session/named_socket.h"
#include "session/old_logs.h"
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
    // One that was stopped has its work to do all the same.
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (kept.terminal) {
        ::setpgid(0, 0);
    } else {
        ::setsid();
    }
    (void)!::chdir("/");
    // Not the lock of the session's directory, which says that the supervisor lives.
    base::close_others({kept.placeholders.descriptor(), kept.placeholders.project_descriptor(),
                        kept.terminal.descriptor(), kept.place.descriptor(), life, stage});
    base::fill_standard_descriptors();
}

}  // namespace

void Keeper::start(Kept kept, int stage) {
    if (base::Result<base::Path> own = base::Path::parse(kept.directory.path()); own)
        runtime_place_ = own->parent().parent().str();
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
    tidy();
    ::_exit(0);
}

void Keeper::dismiss() {
    if (is_dismissed_) return;
    is_dismissed_ = true;
    // Without a keeper, or with one that was killed, it is done here and now.
    if (!life_ || ::send(life_.get(), "d", 1, MSG_NOSIGNAL) != 1) tidy();
}

void Keeper::tidy() const {
    empty_trash(state_directory_);
    remove_old_records(state_directory_ + "/sessions", keep_, ::time(nullptr));
    for (std::string_view helper : {"notify", "slurm/sockets"})
        remove_left_sockets(state_directory_ + "/" + std::string(helper));
    remove_left_drafts(state_directory_, ::time(nullptr));
    remove_left_places(std::string(base::kPlaceParent));
    // Whoever looks removes those of sessions that were killed before they had a keeper.
    if (!runtime_place_.empty()) (void)known_sessions({runtime_place_});
    if (looks_for_builders_) end_left_builders();
}

}  // namespace session
