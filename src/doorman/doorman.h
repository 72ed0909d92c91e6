// SPDX-License-Identifier: MIT
// Answers system calls of jailed processes that no namespace, no Landlock rule and no plain filter can judge,
// because the kernel decides them by what lies in the caller's memory or by a path. The filter makes the
// kernel ask; the stage, an ancestor of all of them that stands outside the wall, carries the act out itself
// on a descriptor that it has checked, or refuses it. Nothing that is read from the caller's memory is ever
// left to the kernel to read again.
#pragma once

#include <memory>

#include "base/file.h"
#include "doorman/orders.h"

namespace doorman {

// Whether this process may read the memory of its descendants and duplicate their descriptors, which an
// answer needs: tried with a short-lived child.
bool is_possible();

// In the process that becomes the command, last before exec and after the other filter: the calls that are
// asked for from here on. no_new_privs must be set. The listener (closed by exec: pass it on before that), or
// a negative errno: EBUSY says that a filter around us answers calls already.
int install(const Orders& orders);
// The same where no process will answer (Orders::is_answered): zero or an errno.
int install_refusals(const Orders& orders);

// Single-threaded like the stage; what takes longer than a moment waits in a room of its own.
class Doorman {
  public:
    // install() returned `listener` in a child of this process, which must be outside the filter that
    // refuses pidfd_getfd, and adopt orphans (PR_SET_CHILD_SUBREAPER).
    Doorman(const Orders& orders, base::Fd listener);
    ~Doorman();
    Doorman(const Doorman&) = delete;
    Doorman& operator=(const Doorman&) = delete;

    int events() const;  // readable when a call waits; -1: no call will
    void answer();       // one call; never blocks for long

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace doorman
