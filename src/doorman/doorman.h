// SPDX-License-Identifier: MIT
// Answers system calls of jailed processes that no namespace, Landlock rule or plain filter can decide,
// because they depend on the caller's memory, on a path or on the object behind a descriptor. The filter
// notifies the stage, which is an ancestor of all jailed processes and outside the wall, or a process outside
// the jail (AnsweredCalls::is_outside). That process executes the call itself on a descriptor that it has
// checked, or refuses it. After a check it never lets the kernel read the caller's memory again.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "doorman/answered_calls.h"
#include "doorman/caller.h"

namespace doorman {

// Functions that the doorman needs from its process.

// A rename of one file. The directories are those that the caller means, as its own mounts show them.
struct Rename {
    int from_directory = -1;
    std::string from_name;
    int to_directory = -1;
    std::string to_name;
};

// A call that removes one name.
struct Removal {
    int directory = -1;
    std::string name;
    bool is_rmdir = false;
    pid_t thread = 0;  // the caller
};

// The process that answers reports at most so many programs that were refused namespaces.
inline constexpr size_t kMostRefusedPrograms = 20;

struct Hooks {
    // Called in a fork of that process: enters the command's wall. Zero or an errno.
    std::function<int()> enter_wall;
    // Called with a refused abstract name, printable: "@/tmp/.X11-unix/X0".
    std::function<void(const std::string&)> on_refused_name;
    // Called with the name of a program that was refused namespaces of its own. The command can choose that
    // name, so it is only for people.
    std::function<void(const std::string&)> on_refused_namespaces;
    // Whether on_rename decides about renames onto this name. Called for every rename of the jail.
    std::function<bool(std::string_view)> is_judged_name;
    std::function<Answer(const Rename&)> on_rename;
    // The same for removals.
    std::function<bool(std::string_view name, bool is_rmdir)> is_judged_removal;
    std::function<Answer(const Removal&)> on_removal;
    // Whether a descriptor leads to a terminal that `exec` passed in.
    std::function<bool(int terminal)> is_passed_terminal;
};

// Whether this process may read the memory of its descendants and duplicate their descriptors, as answers
// require. Tries it with a short-lived child.
bool is_possible();

// Installs the filter that notifies. Call it after the usual filter is installed; no_new_privs must be set.
// Returns the listener, which exec closes, or a negative errno. EBUSY: a process around us has a listener
// already.
int install(const AnsweredCalls& calls);
// The same filter as a program, to be part of another filter that notifies.
std::vector<sock_filter> program_for(const AnsweredCalls& calls);
// The same if no process will answer (AnsweredCalls::is_answered is false); zero or an errno.
int install_refusals(const AnsweredCalls& calls);

// For another process that has the listener: the answer to a call that `calls` covers, and nothing for
// any other call.
std::optional<Answer> judge_outside(int listener, const struct seccomp_notif& notice,
                                    const AnsweredCalls& calls);

// Single-threaded like the stage. Calls that take long are deferred (sockets.h).
class Doorman {
  public:
    // `listener` is the result of install(). This process must be outside the filter that refuses
    // pidfd_getfd. The stage must also adopt orphans (PR_SET_CHILD_SUBREAPER).
    Doorman(const AnsweredCalls& calls, base::Fd listener, Hooks hooks = {});
    ~Doorman();
    Doorman(const Doorman&) = delete;
    Doorman& operator=(const Doorman&) = delete;

    int events() const;  // readable when a call waits; -1: no more will come
    void answer();       // one call; never blocks for long

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace doorman
