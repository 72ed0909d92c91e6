// SPDX-License-Identifier: MIT
// Bytes for a descriptor that other processes share. It is never set non-blocking, so each write is small
// enough not to block.
#pragma once

#include <poll.h>

#include <string>
#include <string_view>

namespace slurm::client {

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

}  // namespace slurm::client
