// SPDX-License-Identifier: MIT
#include "session/helpers/tracer.h"
#include "session/helpers/detach_helper.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/process/own_arguments.h"
#include "base/process/pass_descriptors.h"
#include "seccomp/no_execution.h"
#include "tracer/tracer.h"

namespace session {
namespace {

constexpr std::chrono::milliseconds kLongestTracerEnd{2000};

}  // namespace

Tracer::~Tracer() {
    end();
}

base::Status Tracer::start(base::Fd listener) {
    int pair[2];
    // Non-blocking: neither process ever waits for the other, even if the other is stuck.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return base::system_error("make a socket", errno);
    control_ = base::Fd(pair[0]);
    base::Fd theirs(pair[1]);
    listener_ = std::move(listener);
    Record::Share share;
    if (record_.is_open()) share = record_.share();
    pid_t supervisor = ::getpid();
    process_ = ::fork();
    if (process_ < 0) return base::system_error("start the tracer", errno);
    if (process_ > 0) return base::success();

    control_.release();
    step_aside(supervisor, "asb-tracer",
               {theirs.get(), listener_.get(), share.file.get(), answers_.socket_factory},
               answers_.guards_terminal_size ? ProcessSession::of_terminal : ProcessSession::own);
    // The tracer reads untrusted data of the jail and never needs another program.
    base::forget_environment();
    if (seccomp::forbid_execution_by_name() != 0) ::_exit(1);
    audit::Writer writer(std::move(share.file), share.is_chained ? "tracer" : "", share.seed,
                         share.part_size);
    ::_exit(tracer::run(plan_, {std::move(listener_), std::move(theirs), std::move(writer), answers_}));
}

Tracer::News Tracer::take() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
    std::string_view note = passed ? std::string_view(passed->note) : std::string_view();
    if (note == tracer::kAskForJournal) return News::journal_full;
    if (std::optional<std::string> why = tracer::decode_failure(note)) {
        failure_ = *std::move(why);
    } else {
        failure_ = "the process that traces it was ended from outside";
    }
    control_.reset();
    return News::lost;
}

void Tracer::pass_journal(base::Fd part) const {
    int passed[] = {part.get()};
    if (control_ && part) (void)base::send_descriptors(control_.get(), tracer::kJournal, passed);
}

void Tracer::say_over() const {
    if (control_) (void)base::send_descriptors(control_.get(), tracer::kOver, {});
}

tracer::Summary Tracer::finish() {
    tracer::Summary summary;
    if (control_ && base::send_descriptors(control_.get(), tracer::kEnd, {})) {
        struct pollfd watched = {control_.get(), POLLIN, 0};
        while (::poll(&watched, 1, static_cast<int>(kLongestTracerEnd.count())) > 0) {
            base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
            if (!passed || passed->note.empty()) break;
            if (auto said = tracer::decode_summary(passed->note)) {
                summary = *std::move(said);
                break;
            }
        }
    }
    end();
    return summary;
}

void Tracer::end() {
    control_.reset();
    listener_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

}  // namespace session
