// SPDX-License-Identifier: MIT
// Bytes on their way to a descriptor that others share: it is never set non-blocking, so no more is written
// than is sure to fit.
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
    // Nobody reads it, and that is no reason to end: what comes is dropped.
    void go_deaf() {
        is_deaf_ = true;
        pending_.clear();
    }

    bool is_full() const;
    struct pollfd awaited() const {
        return {pending_.empty() ? -1 : fd_, POLLOUT, 0};
    }

    // After poll. False: nobody reads any more.
    bool write_some();
    // All of it, waiting.
    bool write_rest();

  private:
    int fd_;
    bool is_file_ = false;
    bool is_deaf_ = false;
    std::string pending_;
};

// Divides the errors of a step into those of its tasks and srun's own, which begin with its name: with a file
// for the tasks' errors, only those belong there.
class ErrorSplitter {
  public:
    // Appends to the two.
    void add(std::string_view bytes, std::string& of_tasks, std::string& of_srun);
    void finish(std::string& of_tasks);

  private:
    enum class Line { undecided, of_task, of_srun };
    Line line_ = Line::undecided;
    std::string start_;
};

}  // namespace slurm::client
