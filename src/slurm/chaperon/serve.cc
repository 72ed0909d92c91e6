// SPDX-License-Identifier: MIT
// Theory of operation. This process accepts and counts connections. It reads nothing from the jail, only
// short notes of its workers for the session's record. Each connection has a worker, which dies with this
// process. The worker's real commands die with it, or get a signal to end if they must release something. So
// at the end of the session one exit ends everything.
#include "slurm/chaperon/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>
#include <utility>

#include "base/process/descriptors.h"
#include "base/process/release_memory.h"
#include "slurm/channel/frame.h"
#include "slurm/chaperon/log.h"
#include "slurm/chaperon/processes.h"
#include "slurm/chaperon/record.h"
#include "slurm/chaperon/worker.h"

namespace slurm::chaperon {
namespace {

class Server {
  public:
    Server(const Context& context, const Handlers& handlers, Line line, const Limits& limits)
        : context_(context), handlers_(handlers), line_(std::move(line)), limits_(limits), log_(line_.log) {}

    int run() {
        auto children = watch_children();
        if (!children) return 1;
        children_ = std::move(*children);
        open_record();
        bool has_rested = false;
        for (;;) {
            struct pollfd entries[] = {{line_.session.get(), POLLIN, 0},
                                       {children_.get(), POLLIN, 0},
                                       {line_.listener.get(), POLLIN, 0},
                                       {notes_.get(), POLLIN, 0}};
            if (base::poll_and_rest(entries, std::size(entries), -1, has_rested) < 0) {
                if (errno == EINTR) continue;
                return 1;
            }
            if (entries[3].revents || entries[0].revents) write_notes(notes_.get(), line_.record);
            if (entries[0].revents) return 0;
            if (entries[1].revents) reap();
            if (entries[2].revents && !accept_one()) return 1;
        }
    }

  private:
    // The record's lines form one chain, so only this process writes them. Workers send it notes.
    void open_record() {
        int ends[2];
        if (!line_.record || ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) return;
        notes_ = base::Fd(ends[0]);
        to_desk_ = base::Fd(ends[1]);
        log_.hand_on_to(to_desk_.get());
    }

    void reap() {
        forget_child_signals(children_.get());
        pid_t ended;
        while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) workers_.erase(ended);
    }

    // False: the listener cannot be used any more.
    bool accept_one() {
        base::Fd socket(::accept4(line_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) ::usleep(100'000);
            return errno != EBADF && errno != EINVAL && errno != ENOTSOCK;
        }
        struct ucred peer = {};
        socklen_t size = sizeof peer;
        if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
            !is_served(peer, context_.uid)) {
            log_.write("", "refused", {{"what", "a process of user " + std::to_string(peer.uid)}});
            return true;
        }
        if (workers_.size() >= limits_.workers) {
            turn_away(socket.get());
            return true;
        }
        start_worker(std::move(socket));
        return true;
    }

    static void turn_away(int socket) {
        Denial denial{std::string(code::busy), "too many Slurm commands run at the same time", ""};
        std::string text =
            channel::denied({denial.code, denial.what, denial.advice}) + channel::exit({.number = 1});
        (void)!::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    void start_worker(base::Fd socket) {
        const pid_t parent = ::getpid();
        pid_t worker = ::fork();
        if (worker < 0) return turn_away(socket.get());
        if (worker > 0) {
            workers_.insert(worker);
            return;
        }
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        ::setpgid(0, 0);
        line_.listener.reset();
        line_.session.reset();
        children_.reset();
        notes_.reset();
        line_.record.close();
        answer(context_, handlers_, limits_, log_, std::move(socket));
        ::_exit(0);
    }

    const Context& context_;
    const Handlers& handlers_;
    Line line_;
    const Limits& limits_;
    Log log_;
    base::Fd children_;
    base::Fd notes_, to_desk_;
    std::set<pid_t> workers_;
};

}  // namespace

bool is_served(const struct ucred& peer, uint32_t uid) {
    return peer.pid >= 0 && peer.uid == uid;
}

int serve(const Context& context, const Handlers& handlers, Line line, const Limits& limits) {
    base::fill_standard_descriptors();
    // Non-blocking: a client may leave before it is accepted.
    ::fcntl(line.listener.get(), F_SETFL, ::fcntl(line.listener.get(), F_GETFL) | O_NONBLOCK);
    return Server(context, handlers, std::move(line), limits).run();
}

}  // namespace slurm::chaperon
