// SPDX-License-Identifier: MIT
// Theory of operation. The kernel stops every call that the jail's filter notifies until it is answered here:
//
//   a call that the ready filter refuses     counted, and refused with the errno of that filter
//   a file call, an execution                inspected, and continued (SECCOMP_USER_NOTIF_FLAG_CONTINUE)
//   a call that is answered outside           executed here, or refused (doorman.h)
//   anything else                            refused: no trace option asks for it
//
// Which of the three it is depends only on the registers, which the kernel has copied and no process can
// change. Paths and arguments are read from memory that the command may change the moment after, so that the
// kernel executes another call than the recorded one. That is not a way out of the jail: for a continued call
// the kernel applies the same checks as without a tracer. A command that wants to deceive the record can; one
// that wants to hide needs no notified call.
//
// Until a notice is received here, any signal with a handler interrupts the call, and unless the handler was
// set with SA_RESTART the program gets EINTR from a call that never returns it otherwise. After that only a
// deadly signal does (trace.cc). So receiving has priority: all waiting notices are received before one is
// answered and between any two pieces of other work, and a call continues as soon as the data that only the
// waiting process has is read. Reading the host's files and writing the record come later, one piece a round.
// The queues are bounded: a jail that makes calls faster than that gets its answers more slowly.
//
// The pidfd of a process shows that it has ended; its status is read from the kernel (target.h). The exit
// call is never notified: a program whose exit returns EINTR crashes. Nothing here waits for the jail: all of
// it could be hostile.
#include "tracer/tracer.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_set>

#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/text.h"
#include "doorman/doorman.h"
#include "seccomp/filter.h"
#include "seccomp/trace.h"
#include "tracer/files.h"
#include "tracer/record.h"
#include "tracer/target.h"

namespace tracer {
namespace {

using seccomp::ObservedCall;
using seccomp::Use;

constexpr size_t kMostRemembered = 16'384;  // paths that were judged already
constexpr size_t kLongestRemembered = 512;
// A tree caches everything that it has read.
constexpr std::chrono::seconds kTreeIsFresh{1};
constexpr size_t kMostLooks = 4096;
// Flags of open that change the use.
constexpr uint64_t kTellingFlags = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_PATH | O_TMPFILE;
constexpr size_t kMostReceived = 1024;  // calls that wait for their answer
constexpr size_t kMostLater = 1024;     // pieces of work that no process waits for
constexpr int kListener = 0;            // of a watched descriptor; a process otherwise
constexpr int kControl = 1;

const ObservedCall* find_call(std::span<const ObservedCall> calls, int number) {
    auto found = std::ranges::find(calls, number, &ObservedCall::number);
    return found == calls.end() ? nullptr : &*found;
}

// A path of a call, and what the caller finds there.
struct SeenPath {
    base::Path path;
    std::string key;
    Use use;
    Inside inside;
};

bool is_dead(const base::Fd& pidfd) {
    return base::ready_events(pidfd.get(), POLLIN) != 0;
}

class Tracer : private base::Watcher {
  public:
    Tracer(const plan::Plan& plan, TracerInputs inputs)
        : plan_(plan),
          notices_(std::move(inputs.listener)),
          control_(std::move(inputs.control)),
          record_(std::move(inputs.record), plan.system_calls),
          filter_(seccomp::filter_for(plan.system_calls)),
          answers_(inputs.answers) {
        struct rlimit limit = {};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        constexpr rlim_t kOurs = 64;
        most_running_ = limit.rlim_cur > 2 * kOurs ? limit.rlim_cur - kOurs : kOurs;
    }

    int serve() {
        if (!loop_.open()) return 1;
        listener_ = loop_.watch(notices_.descriptor(), EPOLLIN, *this, kListener);
        loop_.watch(control_.get(), EPOLLIN, *this, kControl);
        while (!is_over_ && !has_failed_) take_events();
        return has_failed_ ? 1 : 0;
    }

  private:
    // ---- Events

    // Only stores the event: calls of the jail come first.
    void on_ready(uint32_t events, int which) override {
        if (which == kControl) {
            has_word_ = true;
        } else if (which != kListener) {
            ended_.push_back(which);
        } else if (!(events & EPOLLIN)) {  // the jail is empty
            loop_.forget(std::exchange(listener_, nullptr), notices_.descriptor());
        }
    }

    void take_events() {
        bool is_behind = !received_.empty() || !later_.empty();
        loop_.turn(std::chrono::milliseconds(is_behind ? 0 : -1));
        receive();
        answer();
        for (pid_t process : ended_) {
            end_process(process);
            receive();
        }
        ended_.clear();
        do_one_piece();
        if (std::exchange(has_word_, false)) take_word();
        if (record_.writer().is_full() && !has_asked_) {
            has_asked_ = static_cast<bool>(base::send_descriptors(control_.get(), kAskForJournal, {}));
        }
    }

    void do_one_piece() {
        if (later_.empty()) return;
        std::function<void()> piece = std::move(later_.front());
        later_.pop_front();
        piece();
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

    void receive() {
        while (received_.size() < kMostReceived) {
            std::optional<struct seccomp_notif> notice = notices_.next();
            if (!notice) return;
            received_.push_back(*notice);
        }
    }

    void answer() {
        for (size_t left = received_.size(); left > 0 && later_.size() < kMostLater; --left) {
            struct seccomp_notif notice = received_.front();
            received_.pop_front();
            answer(notice);
            receive();
        }
    }

    void answer(const struct seccomp_notif& notice) {
        uint32_t verdict = seccomp::verdict_of(filter_, notice.data);
        if (verdict == SECCOMP_RET_ALLOW && carry_out(notice)) return;
        if (verdict != SECCOMP_RET_ALLOW || !is_observed(notice.data.nr)) return refuse(notice, verdict);
        Target target(notice);
        int number = notice.data.nr;
        const ObservedCall* execution = find_call(seccomp::command_calls(), number);
        const ObservedCall* call = execution ? execution : find_call(seccomp::file_calls(), number);
        std::optional<SeenPath> first, second;
        std::optional<SeenExecution> seen;
        if (plan_.trace.files) {
            first = look_at_path(target, *call, call->first);
            second = look_at_path(target, *call, call->second);
        }
        if (execution && plan_.trace.commands) seen = look_at_execution(target, *execution);
        // A pid may be reused before the end of its last process was seen. This process lives as long as its
        // call waits, and may end right after: only now can the two be distinguished.
        if (seen) end_process(seen->process);
        // If it was killed meanwhile, its pid may belong to another process, and nothing that was read
        // counts.
        if (!let_go_on(notice.id)) return;
        if (target.is_memory_closed()) tell_closed_memory();
        if (first) judge_later(*std::move(first));
        if (second) judge_later(*std::move(second));
        if (seen) start_command(*std::move(seen));
    }

    bool carry_out(const struct seccomp_notif& notice) {
        if (!answers_.is_wanted) return false;
        std::optional<doorman::Answer> answer =
            doorman::judge_outside(notices_.descriptor(), notice, answers_);
        if (!answer) return false;
        switch (answer->kind) {
            case doorman::Answer::Kind::done:
                (void)notices_.answer(notice.id, answer->error == 0 ? answer->value : 0, answer->error);
                break;
            case doorman::Answer::Kind::proceeds:
                let_go_on(notice.id);
                break;
            case doorman::Answer::Kind::postponed:
                break;
        }
        return true;
    }

    bool is_observed(int number) const {
        const seccomp::Trace& trace = plan_.trace;
        if (trace.files && find_call(seccomp::file_calls(), number)) return true;
        return (trace.files || trace.commands) && find_call(seccomp::command_calls(), number);
    }

    bool let_go_on(uint64_t id) {
        int number = notices_.let_go_on(id);
        if (number != EINVAL) return number == 0;
        // Linux before 5.5. The call that waits is the first exec of the command.
        has_failed_ = true;
        (void)base::send_descriptors(control_.get(),
                                     encode_failure("this kernel can't let a notified call go on"), {});
        return false;
    }

    void refuse(const struct seccomp_notif& notice, uint32_t verdict) {
        int error = seccomp::is_told(verdict) ? static_cast<int>(verdict & SECCOMP_RET_DATA) : EPERM;
        (void)notices_.refuse(notice.id, error);
        std::string name(seccomp::refused_name(notice.data.nr));
        record_.add_refused(name.empty() ? std::to_string(notice.data.nr) : name, error);
    }

    void tell_closed_memory() {
        if (std::exchange(has_told_memory_, true)) return;
        record_.note("the memory of some processes can't be read: their files and commands are not recorded");
    }

    // ---- Files

    const host::Tree& tree() {
        Clock::time_point now = Clock::now();
        if (!tree_ || now - tree_made_ > kTreeIsFresh || ++looks_ > kMostLooks) {
            tree_ = std::make_unique<host::DiskTree>();
            tree_made_ = now;
            looks_ = 0;
        }
        return *tree_;
    }

    // Look before the call continues, because it may make or remove the file.
    std::optional<SeenPath> look_at_path(const Target& target, const ObservedCall& call,
                                         const seccomp::NamedPath& named) const {
        if (named.path < 0 || named.use == Use::none) return std::nullopt;
        std::optional<base::Path> path = target.path(named.directory, named.path);
        if (!path || is_own_place(*path)) return std::nullopt;
        uint64_t flags = call.flags < 0 ? 0 : target.argument(call.flags);
        std::string key = path->str() + '\0' + std::to_string(static_cast<int>(named.use)) + ' ' +
                          std::to_string(named.use == Use::by_flags ? flags & kTellingFlags : flags);
        if (remembered_.contains(key)) return std::nullopt;
        Inside inside = target.look(*path);
        Use use = named.use;
        if (use == Use::by_flags) use = use_of_flags(flags, inside);
        if (use == Use::by_mode) use = use_of_mode(flags);
        return SeenPath{*std::move(path), std::move(key), use, inside};
    }

    void judge_later(SeenPath seen) {
        later_.emplace_back([this, seen = std::move(seen)] {
            if (std::optional<ClosedFile> closed = judge(plan_, tree(), seen.path, seen.use, seen.inside))
                record_.add(*closed);
            if (seen.key.size() > kLongestRemembered) return;
            if (remembered_.size() >= kMostRemembered) remembered_.clear();
            remembered_.insert(seen.key);
        });
    }

    // ---- Commands

    void start_command(SeenExecution seen) {
        pid_t process = seen.process;
        if (!pidfds_.contains(process)) {
            if (pidfds_.size() >= most_running_) return tell_many_commands();
            auto* slot = loop_.watch(seen.pidfd.get(), EPOLLIN, *this, process);
            pidfds_.insert_or_assign(process, Watched{std::move(seen.pidfd), slot});
        }
        record_.count_command();
        Clock::time_point now = seen.command.started;
        if (std::optional<Command> former = commands_.start(process, std::move(seen.command)))
            tell_later(process, *std::move(former), {End::Kind::replaced}, now);
    }

    void tell_later(pid_t process, Command command, End end, Clock::time_point now) {
        later_.emplace_back([this, process, command = std::move(command), end, now] {
            record_.add(process, command, end, now);
        });
    }

    void tell_many_commands() {
        if (std::exchange(has_told_many_, true)) return;
        record_.note("more than " + std::to_string(most_running_) +
                     " commands ran at once: further ones are not told");
    }

    void end_process(pid_t process) {
        auto found = pidfds_.find(process);
        if (found == pidfds_.end() || !is_dead(found->second.pidfd)) return;
        std::optional<int> kept = kept_status(process, found->second.pidfd.get());
        loop_.forget_closing(found->second.slot);
        pidfds_.erase(found);
        if (std::optional<Command> command = commands_.take(process))
            tell_later(process, *std::move(command), kept ? end_of(*kept) : End{End::Kind::unknown},
                       Clock::now());
    }

    void leave_running() {
        size_t before = 0;
        do {
            before = commands_.size();
            for (pid_t process : commands_.processes()) end_process(process);
        } while (commands_.size() < before);
        for (pid_t process : commands_.processes())
            tell_later(process, *commands_.take(process), {End::Kind::running}, Clock::now());
        for (const auto& [process, watched] : pidfds_) loop_.forget_closing(watched.slot);
        pidfds_.clear();
        while (!later_.empty()) do_one_piece();
    }

    const plan::Plan& plan_;
    Notices notices_;
    base::Fd control_;
    Record record_;
    std::span<const sock_filter> filter_;
    const doorman::AnsweredCalls& answers_;
    std::deque<struct seccomp_notif> received_;
    std::deque<std::function<void()>> later_;
    Commands commands_;
    struct Watched {
        base::Fd pidfd;
        base::EventLoop::Slot slot;
    };
    std::map<pid_t, Watched> pidfds_;
    base::EventLoop loop_;
    base::EventLoop::Slot listener_ = nullptr;
    std::vector<pid_t> ended_;  // since the last turn
    bool has_word_ = false;
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

int run(const plan::Plan& plan, TracerInputs inputs) {
    return Tracer(plan, std::move(inputs)).serve();
}

}  // namespace tracer
