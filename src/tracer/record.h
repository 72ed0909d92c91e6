// SPDX-License-Identifier: MIT
// The tracer's lines in the record of the session, and the commands that they are about.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "audit/writer.h"
#include "seccomp/table.h"
#include "tracer/files.h"

namespace tracer {

// The messages between the tracer and the supervisor: notes over a socket that preserves message boundaries
// (base/process/descriptors.h).

// To the tracer.
inline constexpr std::string_view kOver = "over";        // the command has ended: record what still runs
inline constexpr std::string_view kEnd = "end";          // the jail is dead; the answer is a summary
inline constexpr std::string_view kJournal = "journal";  // with the next part of the record
// From the tracer.
inline constexpr std::string_view kAskForJournal = "journal?";  // this part of the record is full

// What it has seen, as its last message.
struct Summary {
    uint64_t files = 0;         // different files that were closed to the command
    uint64_t system_calls = 0;  // refused, each time
    uint64_t commands = 0;      // programs that were started
    uint64_t lines = 0;         // of the record, and the hash of the last one where there is a chain
    std::string hash;

    bool operator==(const Summary&) const = default;
};
std::string encode(const Summary& summary);
std::optional<Summary> decode_summary(std::string_view note);

// Instead of a summary, at any time: the tracer has failed, and why.
std::string encode_failure(std::string_view why);
std::optional<std::string> decode_failure(std::string_view note);

// The programs that run in a jail, from their execution to their end. Pure: pids and times come from outside.

using Clock = std::chrono::steady_clock;

struct Command {
    std::vector<std::string> words;
    std::string directory;
    Clock::time_point started;
};

// How a command ended.
struct End {
    enum class Kind { exited, killed, replaced, running, unknown };
    Kind kind = Kind::running;
    int number = 0;  // exited: the status; killed: the signal
};

// From the status of a process that wait(2) returns.
End end_of(int wait_status);

class Commands {
  public:
    // Returns the command that it replaces, if the process already ran one.
    std::optional<Command> start(pid_t process, Command command);
    std::optional<Command> take(pid_t process);
    const Command* find(pid_t process) const;
    size_t size() const { return running_.size(); }
    std::vector<pid_t> processes() const;

  private:
    std::map<pid_t, Command> running_;
};

// Writes the tracer's lines to the record of the session, up to a bound: a jail that opens ever new files, or
// starts programs for ever, must not fill the disk. Beyond a bound one note is written; further commands are
// still counted, further files are not.

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
