// SPDX-License-Identifier: MIT
#include "doorman/doorman.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "doorman/answers/abstract_names.h"
#include "doorman/answers/terminal_size.h"
#include "doorman/attributes.h"
#include "doorman/calls.h"
#include "doorman/deferred_calls.h"
#include "doorman/processes.h"
#include "doorman/sockets.h"

namespace doorman {
namespace {

// The size that this kernel asks for; a newer kernel may have more fields.
template <typename T>
class Message {
  public:
    explicit Message(size_t size)
        : bytes_((std::max(size, sizeof(T)) + sizeof(uint64_t) - 1) / sizeof(uint64_t)) {}
    T& get() { return *reinterpret_cast<T*>(bytes_.data()); }
    void clear() { std::ranges::fill(bytes_, 0); }

  private:
    std::vector<uint64_t> bytes_;
};

struct seccomp_notif_sizes message_sizes() {
    struct seccomp_notif_sizes sizes = {};
    ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    return sizes;
}

Answer judge(const Caller& caller, const Sockets& sockets, const Hooks& hooks) {
    switch (caller.call()) {
        case SYS_ioctl:
            return answer_terminal_size(caller);
        case SYS_socket:
        case SYS_socketpair:
            return answer_socket(caller, sockets.calls.socket_factory);
        case SYS_bind:
            return answer_bind(caller, sockets.calls, hooks);
        case SYS_connect:
            return answer_connect(caller, sockets);
        case SYS_listen:
            return answer_listen(caller);
        case SYS_prlimit64:
        case SYS_sched_setaffinity:
        case SYS_sched_setscheduler:
        case SYS_sched_setparam:
        case SYS_sched_setattr:
        case SYS_setpriority:
        case SYS_ioprio_set:
        case SYS_migrate_pages:
        case SYS_move_pages:
        case SYS_kill:
        case SYS_tkill:
        case SYS_tgkill:
        case SYS_rt_sigqueueinfo:
        case SYS_rt_tgsigqueueinfo:
        case kPidfdSendSignal:
            return answer_for_process(caller);
        default:
            return answer_attributes(caller, sockets.calls);
    }
}

}  // namespace

struct Doorman::State {
    State(const AnsweredCalls& wanted, base::Fd fd, Hooks all)
        : calls(wanted),
          hooks(std::move(all)),
          listener(std::move(fd)),
          gate(::epoll_create1(EPOLL_CLOEXEC)),
          waiting_room(gate.get()),
          sizes(message_sizes()),
          notice(sizes.seccomp_notif),
          response(sizes.seccomp_notif_resp) {}

    bool receive() {
        int returned = 0;
        do {
            notice.clear();  // the kernel refuses a buffer that is not zero
            returned = ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &notice.get());
        } while (returned != 0 && errno == EINTR);
        return returned == 0;  // ENOENT: the caller has ended
    }

    void send(uint64_t id, Answer answer) {
        if (answer.kind == Answer::Kind::postponed) return;
        response.clear();
        struct seccomp_notif_resp& said = response.get();
        said.id = id;
        said.val = answer.error == 0 ? answer.value : 0;
        said.error = -answer.error;
        if (answer.kind == Answer::Kind::proceeds) said.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        int returned = 0;
        do {
            returned = ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &said);
        } while (returned != 0 && errno == EINTR);
    }

    bool is_waiting(uint64_t id) const {
        return ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
    }

    const AnsweredCalls& calls;
    Hooks hooks;
    base::Fd listener;
    base::Fd gate;
    WaitingRoom waiting_room;
    struct seccomp_notif_sizes sizes;
    Message<struct seccomp_notif> notice;
    Message<struct seccomp_notif_resp> response;
};

Doorman::Doorman(const AnsweredCalls& calls, base::Fd listener, Hooks hooks)
    : state_(std::make_unique<State>(calls, std::move(listener), std::move(hooks))) {
    struct epoll_event event = {.events = EPOLLIN, .data = {}};
    ::epoll_ctl(state_->gate.get(), EPOLL_CTL_ADD, state_->listener.get(), &event);
    // A slow gateway must not block the stage.
    if (calls.gateway >= 0) ::fcntl(calls.gateway, F_SETFL, ::fcntl(calls.gateway, F_GETFL) | O_NONBLOCK);
}

Doorman::~Doorman() = default;

int Doorman::events() const {
    return state_->listener ? state_->gate.get() : -1;
}

void Doorman::answer() {
    State& state = *state_;
    if (!state.listener) return;
    state.waiting_room.review([&](uint64_t id) { return state.is_waiting(id); },
                              [&](uint64_t id, Answer answer) { state.send(id, answer); });
    struct pollfd ready = {state.listener.get(), POLLIN, 0};
    if (::poll(&ready, 1, 0) != 1) return;
    if (!(ready.revents & POLLIN)) {
        state.listener.reset();  // no process is left behind the filter
        return;
    }
    if (!state.receive()) return;
    struct seccomp_notif& notice = state.notice.get();
    Caller caller(state.listener.get(), notice);
    Sockets sockets{state.calls, state.listener.get(), state.waiting_room};
    state.send(notice.id, judge(caller, sockets, state.hooks));
}

std::optional<Answer> judge_outside(int listener, const struct seccomp_notif& notice,
                                    const AnsweredCalls& calls) {
    Caller caller(listener, notice);
    switch (caller.call()) {
        case SYS_ioctl:
            if (!calls.guards_terminal_size || static_cast<uint32_t>(caller.argument(1)) != TIOCSWINSZ)
                return std::nullopt;
            return answer_terminal_size(caller);
        case SYS_socket:
        case SYS_socketpair:
            if (calls.abstract_names != AbstractNames::apart || caller.number(0) != AF_UNIX)
                return std::nullopt;
            return answer_socket(caller, calls.socket_factory);
        default:
            return std::nullopt;
    }
}

}  // namespace doorman
