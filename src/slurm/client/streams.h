// SPDX-License-Identifier: MIT
// The stub's streams: shared descriptors, files of srun, and the terminal.
#pragma once

#include <poll.h>
#include <termios.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "slurm/channel/channel.h"

namespace slurm::client {

// Bytes for a descriptor that other processes share. It is never set non-blocking, so each write is small
// enough not to block.

class Outlet {
  public:
    explicit Outlet(int fd);

    void add(std::string_view bytes) {
        if (!is_deaf_) pending_ += bytes;
    }
    // The reader has closed its end, and this is not a reason to exit: drop all bytes.
    void go_deaf() {
        is_deaf_ = true;
        pending_.clear();
    }

    bool is_full() const;
    struct pollfd awaited() const {
        return {pending_.empty() ? -1 : fd_, POLLOUT, 0};
    }

    // After poll. False: the reader has closed its end.
    bool write_some();
    // Writes everything; may block.
    bool write_rest();

  private:
    int fd_;
    bool is_file_ = false;
    bool is_deaf_ = false;
    std::string pending_;
};

// Splits the errors of a step into those of its tasks and srun's own, which begin with its name. If there is
// a file for the tasks' errors, only those go there.
class ErrorSplitter {
  public:
    // Appends to both.
    void add(std::string_view bytes, std::string& of_tasks, std::string& of_srun);
    void finish(std::string& of_tasks);

  private:
    enum class Line { undecided, of_task, of_srun };
    Line line_ = Line::undecided;
    std::string start_;
};

// The files for srun's streams. One file for all tasks is opened here, inside the jail. A pattern with a part
// per task or job is opened on the node.

// The name has no pattern that only Slurm can fill in, and is not a keyword of Slurm.
bool is_plain_file(std::string_view value);

struct Redirection {
    // Unset: the stub's own stream. One file for both streams has one descriptor.
    std::optional<base::Fd> input;
    std::shared_ptr<base::Fd> output, errors;
    bool appends = false;
    std::string problem;  // a file could not be opened
};

// Opens them and does not change their content.
Redirection open_files(std::span<const std::string> arguments, std::span<const std::string> environment);
// Truncates them when the command really starts.
void empty_files(const Redirection& redirection);

// The stub's own terminal: in raw mode while a command on the node uses it, otherwise unchanged.

class Terminal {
  public:
    Terminal() = default;
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() { restore(); }

    // Nothing if standard input is not a terminal.
    static std::optional<channel::Window> window();

    void make_raw();
    void restore();
    // After a stop: the shell has changed the mode meanwhile.
    void make_raw_again();

  private:
    std::optional<struct termios> before_;
};

}  // namespace slurm::client
