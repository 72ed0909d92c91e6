// SPDX-License-Identifier: MIT
// A process of the jail whose call waits for its answer, and the command that it is about to execute.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "seccomp/trace.h"
#include "tracer/files.h"
#include "tracer/record.h"

namespace tracer {

// The listener of a filter that notifies: calls that wait, and their answers.

// A struct of the kernel, which may be longer there than in our headers.
template <typename T>
class Message {
  public:
    explicit Message(size_t size);
    T& cleared();

  private:
    std::vector<uint64_t> words_;
};

class Notices {
  public:
    explicit Notices(base::Fd listener);

    int descriptor() const { return listener_.get(); }
    // The next waiting call, if any.
    std::optional<struct seccomp_notif> next();
    // All return zero, or errno.
    int let_go_on(uint64_t id);
    int refuse(uint64_t id, int error) { return answer(id, 0, error); }
    int answer(uint64_t id, int value, int error);

  private:
    Notices(base::Fd listener, const struct seccomp_notif_sizes& sizes);

    base::Fd listener_;
    Message<struct seccomp_notif> notice_;
    Message<struct seccomp_notif_resp> response_;
};

// How a process ended that is not our child, as wait(2) would report it: until its parent has reaped it, and
// afterwards on Linux 6.15 and later.
std::optional<int> kept_status(pid_t process, int pidfd);

// A process of the jail whose call waits for its answer, seen from outside. It can change its memory at any
// time; what is read here is shown to people and decides nothing. It may be killed meanwhile, and its pid may
// belong to another process: so nothing that was read counts unless its call could be answered afterwards.
// All reads are bounded: a pointer may lead anywhere, a list may have no end.

inline constexpr size_t kLongestPath = 4096;
inline constexpr size_t kMostWords = 64;
inline constexpr size_t kLongestWord = 256;

class Target {
  public:
    explicit Target(const struct seccomp_notif& notice) : notice_(notice) {}

    pid_t thread() const { return static_cast<pid_t>(notice_.pid); }
    // The process of the thread; -1: it has exited.
    pid_t process() const;
    uint64_t argument(int index) const { return notice_.data.args[index]; }
    const struct seccomp_data& call() const { return notice_.data; }

    // Nothing if it can't be read; a text that is too long is cut. A null list (0) counts as empty.
    std::optional<std::string> text(uint64_t address, size_t longest) const;
    std::optional<std::vector<std::string>> words(uint64_t address) const;
    bool is_list(uint64_t address) const;                        // its first element can be read
    bool is_memory_closed() const { return is_memory_closed_; }  // a read was not permitted

    // A path of the call, made absolute: relative to its working directory or to a descriptor, if `directory`
    // is the argument with that descriptor (-1: none). Lexical; nothing for "".
    std::optional<base::Path> path(int directory, int argument) const;
    std::string working_directory() const;

    // What the process itself finds there.
    Inside look(const base::Path& path) const;
    bool can_execute(const base::Path& path) const;
    // For execveat with an empty path, and for paths through /proc: the path of the open file.
    std::optional<base::Path> descriptor_path(int descriptor) const;

  private:
    base::Fd open(const base::Path& path) const;
    std::string file(const std::string& name) const;  // "/proc/THREAD/name"
    bool read(uint64_t address, void* place, size_t size) const;

    const struct seccomp_notif& notice_;
    mutable bool is_memory_closed_ = false;
};

// The command that a waiting call of the exec family is about to start.

struct SeenExecution {
    pid_t process;
    base::Fd pidfd;
    Command command;
};

// Whether the call succeeds is not known here; only that the file exists and is executable, and that the
// arguments can be read. A file that is neither a program nor names an interpreter is recorded although the
// kernel refuses it; a shell then reads it itself.
// Threat: a process makes an exec that must fail look like a real one, so that the record shows a harmless
// program instead of the one that continues (trace_attacks.pl, faked).
std::optional<SeenExecution> look_at_execution(const Target& target, const seccomp::ObservedCall& call);

}  // namespace tracer
