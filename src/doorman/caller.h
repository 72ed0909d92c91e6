// SPDX-License-Identifier: MIT
// One waiting system call: who made it, with which arguments, and the ways to look at what they mean. Numbers
// of processes and what memory holds are the caller's to change at any time: whatever is fetched counts only
// while is_waiting() still says yes afterwards, and is fetched once.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/file.h"

namespace doorman {

// What the waiting call returns.
struct Answer {
    enum class Kind : uint8_t {
        done,       // zero, or minus `error`
        proceeds,   // the kernel carries the call out; only where every argument is a plain number
        postponed,  // another part answers it later
    };
    Kind kind = Kind::done;
    int error = 0;

    static Answer of(int error) { return {.error = error}; }
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

    // False: it was killed or interrupted meanwhile, and its number may belong to another process.
    bool is_waiting() const;

    // Of this process's user, and with its view of files: only then could the caller do the same as we do.
    bool is_like_us() const;

    // A duplicate of the caller's descriptor; its errno where the caller has no such descriptor.
    int take_descriptor(int number, base::Fd& descriptor) const;

    // Zero or an errno.
    int read_memory(uint64_t address, void* place, size_t size) const;
    // A text that ends with NUL. ENAMETOOLONG above `limit` bytes.
    int read_text(uint64_t address, size_t limit, std::string& text) const;

    // "/proc/THREAD/name"
    std::string file(const char* name) const;

  private:
    int listener_;
    const struct seccomp_notif& notice_;
};

}  // namespace doorman
