// SPDX-License-Identifier: MIT
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "doorman/answered_calls.h"
#include "jail.h"

namespace doorman {
namespace {

AnsweredCalls guarding() {
    AnsweredCalls calls;
    calls.is_wanted = true;
    calls.guards_processes = calls.guards_signals = true;
    return calls;
}

// A child of the test. The doorman is another process here.
class Outsider {
  public:
    Outsider() : pid_(::fork()) {
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) ::pause();
        }
        ::setpgid(pid_, pid_);
    }
    ~Outsider() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Outsider(const Outsider&) = delete;
    Outsider& operator=(const Outsider&) = delete;

    pid_t pid() const { return pid_; }
    bool is_alive() const {
        siginfo_t information = {};
        ::waitid(P_PID, static_cast<id_t>(pid_), &information, WEXITED | WNOHANG | WNOWAIT);
        return information.si_pid == 0;
    }

  private:
    pid_t pid_;
};

int run_staged(const std::function<int()>& act) {
    return Jail::control([&] { return Jail(guarding()).run(act); });
}

// With a child of the caller's as the target, by its number.
int with_child(const std::function<int(pid_t)>& act) {
    pid_t child = ::fork();
    if (child == 0) {
        for (;;) ::pause();
    }
    ::setpgid(child, child);
    int number = act(child);
    ::syscall(SYS_kill, child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return number;
}

struct NamedAct {
    const char* name;
    int (*act)(pid_t);
};
// All of them are harmless.
constexpr NamedAct kActs[] = {
    {"kill", [](pid_t target) { return result_of(::kill(target, SIGCONT)); }},
    {"kill of a group", [](pid_t target) { return result_of(::kill(-target, SIGCONT)); }},
    {"tkill", [](pid_t target) { return result_of(::syscall(SYS_tkill, target, SIGCONT)); }},
    {"tgkill", [](pid_t target) { return result_of(::syscall(SYS_tgkill, target, target, SIGCONT)); }},
    {"sigqueue", [](pid_t target) { return result_of(::sigqueue(target, SIGCONT, {})); }},
    {"pidfd_send_signal",
     [](pid_t target) {
         int process = static_cast<int>(::syscall(kPidfdOpen, target, 0));
         return result_of(::syscall(kPidfdSendSignal, process, SIGCONT, nullptr, 0));
     }},
    {"prlimit",
     [](pid_t target) {
         struct rlimit limit = {64, 64};
         return result_of(::prlimit(target, RLIMIT_NOFILE, &limit, nullptr));
     }},
    {"setpriority",
     [](pid_t target) { return result_of(::setpriority(PRIO_PROCESS, static_cast<id_t>(target), 19)); }},
    {"setpriority of a group",
     [](pid_t target) { return result_of(::setpriority(PRIO_PGRP, static_cast<id_t>(target), 19)); }},
    {"ioprio_set", [](pid_t target) { return result_of(::syscall(SYS_ioprio_set, 1, target, 3 << 13)); }},
    {"sched_setaffinity",
     [](pid_t target) {
         cpu_set_t all;
         ::sched_getaffinity(0, sizeof all, &all);
         return result_of(::sched_setaffinity(target, sizeof all, &all));
     }},
    {"sched_setscheduler",
     [](pid_t target) {
         struct sched_param none = {};
         return result_of(::sched_setscheduler(target, SCHED_BATCH, &none));
     }},
};

TEST(Processes, OutsideAreLeftAlone) {
    Outsider outsider;
    for (const NamedAct& row : kActs) {
        EXPECT_EQ(run_staged([&] { return row.act(outsider.pid()); }), EPERM) << row.name;
        EXPECT_EQ(run_staged([&] { return with_child(row.act); }), 0) << row.name;
        EXPECT_EQ(Jail::control([&] { return row.act(outsider.pid()); }), 0) << row.name;
    }
}

TEST(Processes, TheDoormanItselfIsOutside) {
    for (const NamedAct& row : kActs) {
        if (std::string_view(row.name).ends_with("group")) continue;
        EXPECT_EQ(run_staged([&] { return row.act(::getppid()); }), EPERM) << row.name;
    }
}

TEST(Processes, MayDoAnythingToThemselves) {
    for (const NamedAct& row : kActs) {
        EXPECT_EQ(run_staged([&] { return row.act(::getpid()); }), 0) << row.name;
    }
    EXPECT_EQ(run_staged([] { return result_of(::setpriority(PRIO_PROCESS, 0, 19)); }), 0);
    EXPECT_EQ(run_staged([] { return result_of(::kill(0, SIGCONT)); }), 0);
    EXPECT_EQ(run_staged([] { return ::raise(SIGCONT) == 0 ? 0 : errno; }), 0);
    EXPECT_EQ(run_staged([] {
                  int number = kUnexpected;
                  std::thread([&] { number = ::raise(SIGCONT) == 0 ? 0 : errno; }).join();
                  return number;
              }),
              0);
}

TEST(Processes, OrphansStayInside) {
    EXPECT_EQ(run_staged([] {
                  int ends[2];
                  (void)!::pipe(ends);
                  if (::fork() == 0) {
                      pid_t orphan = ::fork();
                      if (orphan == 0) {
                          for (;;) ::pause();
                      }
                      (void)!::write(ends[1], &orphan, sizeof orphan);
                      ::_exit(0);
                  }
                  ::wait(nullptr);
                  pid_t orphan = 0;
                  (void)!::read(ends[0], &orphan, sizeof orphan);
                  return result_of(::kill(orphan, SIGKILL));
              }),
              0);
}

TEST(Processes, AreNotMeantAllTogether) {
    EXPECT_EQ(run_staged([] { return result_of(::kill(-1, SIGCONT)); }), EPERM);
    EXPECT_EQ(run_staged([] { return result_of(::setpriority(PRIO_USER, ::getuid(), 19)); }), EPERM);
    EXPECT_EQ(run_staged([] { return result_of(::setpriority(PRIO_USER, 0, 19)); }), EPERM);
    EXPECT_EQ(run_staged([] { return result_of(::setpriority(PRIO_PGRP, 0, 19)); }), EPERM);
    EXPECT_EQ(run_staged([] { return result_of(::kill(0x3fffffff, SIGTERM)); }), ESRCH);
}

// Threat: a process may step into any group of its session.
TEST(Processes, InAGroupWithOutsidersSignalNoGroup) {
    Outsider outsider;
    EXPECT_EQ(run_staged([&] {
                  if (::setpgid(0, outsider.pid()) != 0) return kUnexpected;
                  return result_of(::kill(0, SIGKILL));
              }),
              EPERM);
    EXPECT_EQ(run_staged([&] {
                  std::atomic<bool> is_done = false;
                  pid_t own = ::getpid();
                  std::thread moving([&] {
                      while (!is_done) {
                          ::setpgid(0, outsider.pid());
                          ::setpgid(0, own);
                      }
                  });
                  // The process that asks for it ignores it; it kills the outsider.
                  ::signal(SIGUSR1, SIG_IGN);
                  for (int i = 0; i < 300; ++i) (void)::kill(0, SIGUSR1);
                  is_done = true;
                  moving.join();
                  return 0;
              }),
              0);
    EXPECT_TRUE(outsider.is_alive());
}

TEST(Processes, CannotMakeTheKernelSignal) {
    Outsider outsider;
    auto owns = [&] {
        int ends[2];
        (void)!::pipe(ends);
        return result_of(::fcntl(ends[0], F_SETOWN, outsider.pid()));
    };
    EXPECT_EQ(run_staged(owns), EPERM);
    EXPECT_EQ(Jail::control(owns), 0);
}

// The descriptor of a process is exchanged for that of an outsider while the call waits.
TEST(Processes, AreNotFooledByADescriptorThatChanges) {
    Outsider outsider;
    EXPECT_EQ(run_staged([&] {
                  int inside = static_cast<int>(::syscall(kPidfdOpen, ::getpid(), 0));
                  int outside = static_cast<int>(::syscall(kPidfdOpen, outsider.pid(), 0));
                  int shown = ::dup(inside);
                  ::signal(SIGUSR1, SIG_IGN);
                  std::atomic<bool> is_done = false;
                  std::thread flipping([&] {
                      for (int i = 0; !is_done; ++i) ::dup2(i % 2 ? inside : outside, shown);
                  });
                  int sent = 0;
                  for (int i = 0; i < 500; ++i)
                      sent += ::syscall(kPidfdSendSignal, shown, SIGUSR1, nullptr, 0) == 0;
                  is_done = true;
                  flipping.join();
                  return sent > 0 ? 0 : kUnexpected;
              }),
              0);
    EXPECT_TRUE(outsider.is_alive());
}

}  // namespace
}  // namespace doorman
