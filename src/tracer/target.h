// SPDX-License-Identifier: MIT
// A process of the jail whose call waits for its answer, seen from outside. It can change its memory at any
// time; what is read here is shown to people and decides nothing. It may be killed meanwhile, and its pid may
// belong to another process: so nothing that was read counts unless its call could be answered afterwards.
// All reads are bounded: a pointer may lead anywhere, a list may have no end.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "tracer/files.h"

namespace tracer {

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

}  // namespace tracer
