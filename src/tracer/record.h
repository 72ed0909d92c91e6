// SPDX-License-Identifier: MIT
// Writes the tracer's lines to the record of the session, up to a bound: a jail that opens ever new files, or
// starts programs for ever, must not fill the disk. Beyond a bound one note is written; further commands are
// still counted, further files are not.
#pragma once

#include <map>
#include <string>
#include <unordered_set>

#include "audit/writer.h"
#include "seccomp/table.h"
#include "tracer/commands.h"
#include "tracer/files.h"
#include "tracer/messages.h"

namespace tracer {

inline constexpr size_t kMostFiles = 2'000;
inline constexpr size_t kMostCommands = 100'000;

class Record {
  public:
    explicit Record(audit::Writer writer, seccomp::Switches switches)
        : writer_(std::move(writer)), switches_(switches) {}

    // Each path is recorded once for reading and once for writing.
    void add(const ClosedFile& file);
    void add(pid_t process, const Command& command, const End& end, Clock::time_point now);
    // The first refusal of a name is recorded at once, the number of refusals at the end.
    void add_refused(const std::string& name, int error);
    // About the record itself.
    void note(const std::string& reason);

    void count_command() { ++summary_.commands; }
    void finish();  // how often calls were refused
    Summary summary() const;

    audit::Writer& writer() { return writer_; }

  private:
    struct Refused {
        std::string name;
        int error = 0;
        auto operator<=>(const Refused&) const = default;
    };
    void write_refused(const Refused& refused, uint64_t count);

    audit::Writer writer_;
    seccomp::Switches switches_;
    Summary summary_;
    std::unordered_set<std::string> files_;
    std::map<Refused, uint64_t> refused_;
    size_t command_lines_ = 0;
    bool has_too_many_files_ = false;
};

}  // namespace tracer
