// SPDX-License-Identifier: MIT
#include "session/helpers/values.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"

namespace session {
namespace {

constexpr size_t kLongestReason = 2048;

// The source is a program of the user and expects an ordinary process.
void become_ordinary(pid_t supervisor, int answer, int file) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != supervisor) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 0);
    struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    // Not the agent's terminal: a source that asks there would ask the agent.
    ::setsid();
    base::close_others({answer, file});
    base::fill_standard_descriptors();
    sigset_t all;
    ::sigemptyset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::signal(SIGALRM, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    ::alarm(Values::kLongestSeconds);
}

int fetch_and_answer(const Values::Fetch& fetch, size_t credential, int answer, int file) {
    base::Result<Value> fetched = fetch(credential);
    if (!fetched) {
        (void)base::write_all(answer, fetched.error().line());
        return 1;
    }
    base::Status written =
        fetched->value.reveal([&](std::string_view bytes) { return base::write_all(file, bytes); });
    fetched->value.clear();
    (void)base::write_all(answer, written ? std::to_string(fetched->lifetime) : written.error().line());
    return written ? 0 : 1;
}

}  // namespace

Values::~Values() {
    for (size_t credential : locked_) logins_.unlock(credential);
    for (auto& [credential, fetcher] : fetchers_) {
        if (fetcher->process <= 0) continue;
        // New tokens are not lost: the process ends within seconds.
        if (!fetcher->on_error) ::kill(fetcher->process, SIGKILL);
        while (::waitpid(fetcher->process, nullptr, 0) < 0 && errno == EINTR) continue;
    }
}

base::Status Values::open(Fetch fetch, Logins logins) {
    fetch_ = std::move(fetch);
    logins_ = std::move(logins);
    return loop_.open();
}

void Values::serve(Gateway& gateway) {
    pass_ = [&gateway](size_t credential, const base::Result<base::Fd>& value, int64_t lifetime) {
        gateway.pass_value(credential, value, lifetime);
    };
    gateway.when_value_needed(
        [this](network::gateway::ValueRequest wanted) { request(wanted.number, wanted.locks); });
    gateway.when_refresh_over(
        [this](network::gateway::RefreshOver over) { end_refresh(over.number, over.has_tokens); });
    gateway.when_tokens_issued([this](network::gateway::TokensIssued issued, base::Fd tokens) {
        store(std::move(issued), std::move(tokens), [](const base::Error& error) {
            (void)base::write_all(
                STDERR_FILENO,
                "agent-sandbox: the renewed log-in is not in your own file: " + error.line() + "\n");
        });
    });
}

void Values::request(size_t credential, bool locks) {
    if (fetchers_.contains(credential)) return;
    auto fetcher = std::make_shared<Fetcher>();
    fetcher->locks = locks && logins_.lock;
    fetcher->file = base::Fd(::memfd_create("value", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fetcher->file) return pass_(credential, base::system_error("make a memory file", errno), 0);
    auto act = [this, credential, locks = fetcher->locks, file = fetcher->file.get()](int answer) {
        base::Status locked = locks ? logins_.lock(credential) : base::success();
        if (!locked) {
            (void)base::write_all(answer, locked.error().line());
            return 1;
        }
        int status = fetch_and_answer(fetch_, credential, answer, file);
        if (locks && status != 0) logins_.unlock(credential);
        return status;
    };
    base::Status started =
        fetch_ ? start(credential, *fetcher, act) : base::Status(base::Error{.what = "it has no source"});
    if (!started) return pass_(credential, started.error(), 0);
    fetchers_.emplace(credential, std::move(fetcher));
}

void Values::end_refresh(size_t credential, bool has_tokens) {
    if (locked_.erase(credential) > 0 && !has_tokens) logins_.unlock(credential);
}

void Values::store(network::gateway::TokensIssued issued, base::Fd tokens,
                   std::function<void(const base::Error&)> on_error) {
    if (!logins_.store) return;
    auto fetcher = std::make_shared<Fetcher>();
    fetcher->on_error = std::move(on_error);
    fetcher->file = std::move(tokens);
    auto act = [this, &issued, file = fetcher->file.get()](int answer) {
        base::Status stored = logins_.store(issued, file);
        if (!stored) (void)base::write_all(answer, stored.error().line());
        return stored ? 0 : 1;
    };
    const size_t key = last_key_--;
    base::Status started = start(key, *fetcher, act);
    if (!started) return fetcher->on_error(started.error());
    fetchers_.emplace(key, std::move(fetcher));
}

base::Status Values::start(size_t key, Fetcher& fetcher, const std::function<int(int answer)>& act) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    fetcher.answer = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    pid_t supervisor = ::getpid();
    fetcher.process = ::fork();
    if (fetcher.process < 0) return base::system_error("start the source of a credential", errno);
    if (fetcher.process == 0) {
        become_ordinary(supervisor, theirs.get(), fetcher.file.get());
        ::_exit(act(theirs.get()));
    }
    fetcher.act = [this, key] { hear(key); };
    fetcher.slot = loop_.watch(fetcher.answer.get(), EPOLLIN, fetcher);
    return base::success();
}

void Values::take() {
    loop_.turn(std::chrono::milliseconds(0));
}

// The process writes one line and ends. Its own children do not have the pipe.
void Values::hear(size_t key) {
    std::shared_ptr<Fetcher> fetcher = fetchers_[key];
    base::Result<std::string> reason = base::read_descriptor(fetcher->answer.get(), kLongestReason);
    int status = 0;
    while (::waitpid(fetcher->process, &status, 0) < 0 && errno == EINTR) continue;
    loop_.forget(fetcher->slot, fetcher->answer.get());
    loop_.bury(fetcher);
    fetchers_.erase(key);
    finish(key, *fetcher, reason, status);
}

void Values::finish(size_t key, Fetcher& fetcher, const base::Result<std::string>& answer, int status) {
    bool has_value = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    bool is_late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    if (!has_value) {
        std::string text = answer && !answer->empty() ? *answer
                           : is_late                  ? "its source did not answer in 10 seconds"
                                                      : "its source ended without a value";
        if (fetcher.on_error) return fetcher.on_error(base::Error{.what = std::move(text)});
        return pass_(key, base::Error{.what = std::move(text)}, 0);
    }
    if (fetcher.on_error) return;
    if (fetcher.locks) locked_.insert(key);
    constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    bool is_ready = ::lseek(fetcher.file.get(), 0, SEEK_SET) == 0 &&
                    ::fcntl(fetcher.file.get(), F_ADD_SEALS, kSeals) == 0;
    if (!is_ready) return pass_(key, base::system_error("seal a value", errno), 0);
    int64_t lifetime = answer ? base::parse_number<int64_t>(*answer).value_or(0) : 0;
    pass_(key, std::move(fetcher.file), lifetime);
}

}  // namespace session
