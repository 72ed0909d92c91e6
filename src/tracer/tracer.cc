// SPDX-License-Identifier: MIT
// Theory of operation. The kernel stops every call that the jail's filter notifies until it is answered here:
//
//   a call that the ready filter refuses     counted, and refused with the very number that the filter says
//   a file call, an execution, an exit       looked at, and let go on (SECCOMP_USER_NOTIF_FLAG_CONTINUE)
//   anything else                            refused: nothing asked for it
//
// Which of the three it is depends on the registers alone, which the kernel keeps and nobody can change
// meanwhile. What paths and arguments say is read from memory that the command may change the moment after,
// so that another call is carried out than the one that was recorded. That is no way out of the jail: letting
// a call go on means that the kernel judges it as if nobody had been asked, and the walls are the same. A
// command that wants to deceive the record can; one that wants to hide does not have to ask.
//
// The end of a process is told by its pidfd, its status by its last call, and where it made none by what the
// kernel keeps of it. Nothing here waits for the jail: all of it could be hostile.
#include "tracer/tracer.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_set>

#include "base/pass_descriptors.h"
#include "base/text.h"
#include "seccomp/filter.h"
#include "seccomp/trace.h"
#include "tracer/commands.h"
#include "tracer/files.h"
#include "tracer/messages.h"
#include "tracer/record.h"
#include "tracer/status.h"
#include "tracer/target.h"

namespace tracer {
namespace {

using seccomp::ObservedCall;
using seccomp::Use;

// Whoever wakes the other continues on the same processor: half the price of a question (Linux 6.6).
constexpr uint64_t kSyncWakeUp = 1;
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);

constexpr size_t kMostRemembered = 16'384;  // paths that nothing is to be said about
constexpr size_t kLongestRemembered = 512;
// A tree remembers all that it was asked for.
constexpr std::chrono::seconds kTreeIsFresh{1};
constexpr size_t kMostLooks = 4096;
// Flags of open that make a difference to what is wanted.
constexpr uint64_t kTellingFlags = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_PATH | O_TMPFILE;
constexpr int kEvents = 64;
constexpr uint64_t kListener = 0;  // of epoll's data; a process otherwise
constexpr uint64_t kControl = 1;

const ObservedCall* find_call(std::span<const ObservedCall> calls, int number) {
    auto found = std::ranges::find(calls, number, &ObservedCall::number);
    return found == calls.end() ? nullptr : &*found;
}

// A struct of the kernel's, which may be longer there than in our headers.
template <typename T>
class Message {
  public:
    explicit Message(size_t size) : words_(std::max(size, sizeof(T)) / sizeof(uint64_t) + 1) {}
    T& cleared() {
        std::ranges::fill(words_, 0);
        return get();
    }
    T& get() { return *reinterpret_cast<T*>(words_.data()); }

  private:
    std::vector<uint64_t> words_;
};

struct seccomp_notif_sizes message_sizes() {
    struct seccomp_notif_sizes sizes = {};
    ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    return sizes;
}

class Tracer {
  public:
    Tracer(const plan::Plan& plan, Surroundings surroundings)
        : plan_(plan),
          listener_(std::move(surroundings.listener)),
          control_(std::move(surroundings.control)),
          gate_(::epoll_create1(EPOLL_CLOEXEC)),
          record_(std::move(surroundings.record), plan.system_calls),
          filter_(seccomp::filter_for(plan.system_calls)),
          sizes_(message_sizes()),
          notice_(sizes_.seccomp_notif),
          response_(sizes_.seccomp_notif_resp) {
        watch(listener_.get(), EPOLLIN, kListener);
        watch(control_.get(), EPOLLIN, kControl);
        ::ioctl(listener_.get(), kSetFlags, kSyncWakeUp);
        struct rlimit limit = {};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        constexpr rlim_t kOurs = 64;
        most_running_ = limit.rlim_cur > 2 * kOurs ? limit.rlim_cur - kOurs : kOurs;
    }

    int serve() {
        while (!is_over_ && !has_failed_) take_events(-1);
        return has_failed_ ? 1 : 0;
    }

  private:
    // ---- Events
    // -----------------------------------------------------------------------------------------------------

    void watch(int descriptor, uint32_t events, uint64_t data) const {
        struct epoll_event event = {.events = events, .data = {.u64 = data}};
        ::epoll_ctl(gate_.get(), EPOLL_CTL_ADD, descriptor, &event);
    }

    // Ends before beginnings: a number that is free again may be given to the next.
    void take_events(int timeout) {
        struct epoll_event events[kEvents];
        int count = ::epoll_wait(gate_.get(), events, kEvents, timeout);
        for (int i = 0; i < count; ++i) {
            if (events[i].data.u64 > kControl)
                end_process(static_cast<pid_t>(events[i].data.u64), events[i].events);
        }
        for (int i = 0; i < count; ++i) {
            if (events[i].data.u64 == kListener) take_notice(events[i].events);
            if (events[i].data.u64 == kControl) take_word();
        }
        if (record_.writer().is_full() && !has_asked_) {
            has_asked_ = static_cast<bool>(base::send_descriptors(control_.get(), kAskForJournal, {}));
        }
    }

    void take_word() {
        base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
        if (!passed) return;
        if (passed->note == kJournal && passed->descriptors.size() == 1) {
            record_.writer().go_on(std::move(passed->descriptors.front()));
            has_asked_ = false;
        } else if (passed->note == kOver) {
            leave_running();
        } else if (passed->note == kEnd) {
            leave_running();
            record_.finish();
            (void)base::send_descriptors(control_.get(), encode(record_.summary()), {});
            is_over_ = true;
        } else if (passed->note.empty()) {
            is_over_ = true;
        }
    }

    // ---- Calls
    // ------------------------------------------------------------------------------------------------------

    void take_notice(uint32_t events) {
        if (!(events & EPOLLIN)) {
            ::epoll_ctl(gate_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);  // the jail is empty
            return;
        }
        struct seccomp_notif& notice = notice_.cleared();
        if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) return;  // it is gone
        Target target(listener_.get(), notice);
        uint32_t verdict = seccomp::verdict_of(filter_, notice.data);
        if (verdict == SECCOMP_RET_ALLOW && is_observed(notice.data.nr)) {
            look_at(target);
            if (target.is_memory_closed()) tell_closed_memory();
            let_go_on(notice.id);
        } else {
            refuse(notice, verdict);
        }
    }

    bool is_observed(int number) const {
        const seccomp::Trace& trace = plan_.trace;
        if (trace.files && find_call(seccomp::file_calls(), number)) return true;
        if (trace.commands && std::ranges::count(seccomp::end_calls(), number) > 0) return true;
        return (trace.files || trace.commands) && find_call(seccomp::command_calls(), number);
    }

    void let_go_on(uint64_t id) {
        struct seccomp_notif_resp& response = response_.cleared();
        response.id = id;
        response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        int returned = ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
        if (returned == 0 || errno != EINVAL) return;
        // Linux before 5.5. It is the command's own first execution that waits here.
        has_failed_ = true;
        (void)base::send_descriptors(control_.get(),
                                     encode_failure("this kernel can't let a notified call go on"), {});
    }

    void refuse(const struct seccomp_notif& notice, uint32_t verdict) {
        int error = seccomp::is_told(verdict) ? static_cast<int>(verdict & SECCOMP_RET_DATA) : EPERM;
        struct seccomp_notif_resp& response = response_.cleared();
        response.id = notice.id;
        response.error = -error;
        (void)::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
        std::string name(seccomp::refused_name(notice.data.nr));
        record_.add_refused(name.empty() ? std::to_string(notice.data.nr) : name, error);
    }

    void look_at(const Target& target) {
        int number = target.call().nr;
        const ObservedCall* execution = find_call(seccomp::command_calls(), number);
        const ObservedCall* call = execution ? execution : find_call(seccomp::file_calls(), number);
        if (call == nullptr) {
            if (number == SYS_exit_group || number == SYS_exit) hear_exit(target, number);
            return;
        }
        if (plan_.trace.files) {
            look_at_path(target, *call, call->first);
            look_at_path(target, *call, call->second);
        }
        if (execution && plan_.trace.commands) look_at_execution(target, *execution);
    }

    void tell_closed_memory() {
        if (std::exchange(has_told_memory_, true)) return;
        record_.note("the memory of some processes can't be read: their files and commands are not recorded");
    }

    // ---- Files
    // ------------------------------------------------------------------------------------------------------

    const host::Tree& tree() {
        Clock::time_point now = Clock::now();
        if (!tree_ || now - tree_made_ > kTreeIsFresh || ++looks_ > kMostLooks) {
            tree_ = std::make_unique<host::DiskTree>();
            tree_made_ = now;
            looks_ = 0;
        }
        return *tree_;
    }

    void look_at_path(const Target& target, const ObservedCall& call, const seccomp::NamedPath& named) {
        if (named.path < 0 || named.use == Use::none) return;
        std::optional<base::Path> path = target.path(named.directory, named.path);
        if (!path || is_own_place(*path)) return;
        uint64_t flags = call.flags < 0 ? 0 : target.argument(call.flags);
        std::string key = path->str() + '\0' + std::to_string(static_cast<int>(named.use)) + ' ' +
                          std::to_string(named.use == Use::by_flags ? flags & kTellingFlags : flags);
        if (remembered_.contains(key)) return;
        Inside inside = target.look(*path);
        if (!target.is_waiting()) return;
        Use use = named.use;
        if (use == Use::by_flags) use = use_of_flags(flags, inside);
        if (use == Use::by_mode) use = use_of_mode(flags);
        if (std::optional<ClosedFile> closed = judge(plan_, tree(), *path, use, inside)) record_.add(*closed);
        if (key.size() > kLongestRemembered) return;
        if (remembered_.size() >= kMostRemembered) remembered_.clear();
        remembered_.insert(std::move(key));
    }

    // ---- Commands
    // ---------------------------------------------------------------------------------------------------

    // Whether it comes to that is not seen here: the file is there and executable. One that is neither a
    // program nor names an interpreter is recorded although the kernel refuses it; a shell then reads it
    // itself.
    void look_at_execution(const Target& target, const ObservedCall& call) {
        bool is_at = call.first.directory >= 0;
        std::optional<base::Path> path = target.path(call.first.directory, call.first.path);
        if (!path && is_at) {
            path = target.descriptor_path(static_cast<int>(target.argument(call.first.directory)));
        } else if (path && !is_magic(*path) && !target.can_execute(*path)) {
            return;
        }
        if (!path) return;
        Command command{.words = target.words(target.argument(call.first.path + 1)),
                        .directory = target.working_directory(),
                        .started = Clock::now(),
                        .status = {}};
        if (command.words.empty()) command.words.push_back(path->str());
        pid_t process = target.process();
        if (process <= 0 || !target.is_waiting()) return;
        start_command(process, std::move(command));
    }

    void start_command(pid_t process, Command command) {
        auto known = pidfds_.find(process);
        struct pollfd dead = {known == pidfds_.end() ? -1 : known->second.get(), POLLIN, 0};
        if (dead.fd >= 0 && ::poll(&dead, 1, 0) > 0) {
            end_process(process, EPOLLHUP);
            known = pidfds_.end();
        }
        if (known == pidfds_.end()) {
            if (pidfds_.size() >= most_running_) return tell_many_commands();
            base::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
            if (!pidfd) return;
            watch(pidfd.get(), EPOLLIN, static_cast<uint64_t>(process));
            pidfds_.insert_or_assign(process, std::move(pidfd));
        }
        record_.count_command();
        Clock::time_point now = command.started;
        if (std::optional<Command> former = commands_.start(process, std::move(command)))
            record_.add(process, *former, {End::Kind::replaced}, now);
    }

    void tell_many_commands() {
        if (std::exchange(has_told_many_, true)) return;
        record_.note("more than " + std::to_string(most_running_) +
                     " commands ran at once: further ones are not told");
    }

    // The last thread of a process may leave it by `exit`, and then that was its status.
    void hear_exit(const Target& target, int number) {
        int status = static_cast<int>(target.argument(0));
        pid_t process = target.thread();
        if (number == SYS_exit_group && commands_.find(process) == nullptr) process = target.process();
        if (target.is_waiting()) commands_.say_status(process, status);
    }

    void end_process(pid_t process, uint32_t events) {
        auto found = pidfds_.find(process);
        const Command* command = commands_.find(process);
        if (found == pidfds_.end() || command == nullptr) return;
        std::optional<int> kept;
        if (!command->status) kept = kept_status(process, found->second.get());
        bool is_final = command->status || kept || events & EPOLLHUP;
        if (!is_final) {
            // Between death and burial: the kernel tells the status after the latter, and that as EPOLLHUP.
            struct epoll_event event = {.events = 0, .data = {.u64 = static_cast<uint64_t>(process)}};
            ::epoll_ctl(gate_.get(), EPOLL_CTL_MOD, found->second.get(), &event);
            return;
        }
        End end{End::Kind::killed, 0};
        if (kept) end = end_of(*kept);
        if (command->status) end = {End::Kind::exited, *command->status};
        record_.add(process, *commands_.take(process), end, Clock::now());
        pidfds_.erase(found);
    }

    void leave_running() {
        size_t before = 0;
        do {
            before = commands_.size();
            end_dead();
        } while (commands_.size() < before);
        for (pid_t process : commands_.processes())
            record_.add(process, *commands_.take(process), {End::Kind::running}, Clock::now());
        pidfds_.clear();
    }

    void end_dead() {
        for (pid_t process : commands_.processes()) {
            struct pollfd dead = {pidfds_.at(process).get(), POLLIN, 0};
            if (::poll(&dead, 1, 0) > 0) end_process(process, EPOLLHUP);
        }
    }

    const plan::Plan& plan_;
    base::Fd listener_, control_, gate_;
    Record record_;
    std::span<const sock_filter> filter_;
    struct seccomp_notif_sizes sizes_;
    Message<struct seccomp_notif> notice_;
    Message<struct seccomp_notif_resp> response_;
    Commands commands_;
    std::map<pid_t, base::Fd> pidfds_;
    size_t most_running_ = 0;
    std::unique_ptr<host::DiskTree> tree_;
    Clock::time_point tree_made_;
    size_t looks_ = 0;
    std::unordered_set<std::string> remembered_;
    bool is_over_ = false;
    bool has_failed_ = false;
    bool has_asked_ = false;
    bool has_told_memory_ = false;
    bool has_told_many_ = false;
};

}  // namespace

int run(const plan::Plan& plan, Surroundings surroundings) {
    return Tracer(plan, std::move(surroundings)).serve();
}

}  // namespace tracer
