// SPDX-License-Identifier: MIT
// One waiting system call: the calling thread, its arguments, and access to its memory and descriptors. Pids
// can be reused and memory can change at any time. So read each value once, and use it only if is_waiting()
// is still true afterwards.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"

namespace doorman {

// The result of the waiting call.
struct Answer {
    enum class Kind : uint8_t {
        done,       // returns `value`, or fails with `error`
        proceeds,   // the kernel executes the call; only if every argument is a plain number, or if a wrong
                    // one gains nothing (answers/renames.h)
        postponed,  // answered later, or already
    };
    Kind kind = Kind::done;
    int error = 0;
    int value = 0;

    static Answer of(int error) { return {.error = error}; }
    static Answer of_value(int value) { return {.value = value}; }
    static Answer proceed() { return {.kind = Kind::proceeds}; }
    static Answer later() { return {.kind = Kind::postponed}; }
};

class Caller {
  public:
    Caller(int listener, const struct seccomp_notif& notice) : listener_(listener), notice_(notice) {}

    uint64_t id() const { return notice_.id; }
    int call() const { return notice_.data.nr; }
    uint64_t argument(int index) const { return notice_.data.args[index]; }
    int number(int index) const { return static_cast<int>(notice_.data.args[index]); }
    pid_t thread() const { return static_cast<pid_t>(notice_.pid); }

    // False: the caller was killed or interrupted, and its pid may belong to another process.
    bool is_waiting() const;

    // True if the caller has the same user and root directory as this process. Only then this process may act
    // for it.
    bool is_like_us() const;

    // Duplicates a descriptor of the caller; zero or an errno.
    int take_descriptor(int number, base::Fd& descriptor) const;

    // Zero or an errno.
    int read_memory(uint64_t address, void* place, size_t size) const;
    int write_memory(uint64_t address, const void* content, size_t size) const;
    // A text up to its NUL. ENAMETOOLONG if it is longer than `limit` bytes.
    int read_text(uint64_t address, size_t limit, std::string& text) const;

    // "/proc/THREAD/name"
    std::string file(const char* name) const;

    // Adds `descriptor` to the caller's table; its number there, or a negative errno. With kReturned the call
    // also returns that number (Linux 5.14; EINVAL before).
    static constexpr uint32_t kReturned = 1u << 1;  // SECCOMP_ADDFD_FLAG_SEND
    int give_descriptor(int descriptor, bool closes_on_exec, uint32_t flags = 0) const;

  private:
    int listener_;
    const struct seccomp_notif& notice_;
};

// The processes of the jail: every process that descends from this one. It adopts orphans (child subreaper),
// so that none of them gets lost.

struct Process {
    pid_t group = 0;  // the thread group: what others call the process
    pid_t parent = 0;
    uid_t file_user = 0;
};
bool read_process(pid_t thread, Process& process);

// Not for this process itself.
bool is_jailed(pid_t thread);
// By a descriptor of it: the number of a process that has not ended, or nothing.
std::optional<pid_t> number_of(int process);

// Limits, priorities, affinities, signals.
Answer answer_for_process(const Caller& caller);

}  // namespace doorman
