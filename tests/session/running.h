// SPDX-License-Identifier: MIT
// Starts session_program and observes it: for tests with real jails.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/places.h"

namespace testing_support {

// How long something may take before a test fails. Long, because a shared machine can stall for seconds; only
// a failing test waits so long.
inline constexpr std::chrono::seconds kPatience(60);

// Waits in steps of two milliseconds. A step takes longer if the processor is busy, so other processes get as
// many turns as on an idle machine.
inline void let_others_run(std::chrono::milliseconds span) {
    for (int turns = static_cast<int>(span.count() / 2); turns > 0; --turns) ::poll(nullptr, 0, 2);
}

// True as soon as `holds` is true, false after kPatience.
inline bool eventually(const std::function<bool()>& holds) {
    auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
        if (holds()) return true;
        ::poll(nullptr, 0, 2);
    }
    return holds();
}

// A started program whose output and errors come through one pipe.
class Running {
  public:
    // `prepare` runs in the child, before the program does.
    explicit Running(std::vector<std::string> words, const std::function<void()>& prepare = {}) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
        output_ = base::Fd(ends[0]);
        base::Fd writing(ends[1]);
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::setpgid(0, 0);
        ::dup2(::open("/dev/null", O_RDONLY), 0);
        ::dup2(writing.get(), 1);
        ::dup2(writing.get(), 2);
        if (prepare) prepare();
        const std::string program = test::beside(SESSION_PROGRAM);
        words.insert(words.begin(), program);
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        ::execv(program.c_str(), pointers.data());
        ::_exit(99);
    }
    ~Running() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    pid_t pid() const { return pid_; }

    // Reads until the text appears; false at the end of the output, or after kPatience.
    bool says(const std::string& text) {
        while (said_.find(text) == std::string::npos) {
            if (!read_more()) return false;
        }
        return true;
    }
    // The exit status; 128 + n after a signal.
    int wait() {
        int status = 0;
        while (read_more()) continue;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    const std::string& said() const { return said_; }
    // Whether every process that had its output has closed it, so none is left behind.
    bool is_closed() const { return is_closed_; }

  private:
    bool read_more() {
        struct pollfd watched = {output_.get(), POLLIN, 0};
        char bytes[4096];
        if (::poll(&watched, 1, std::chrono::milliseconds(kPatience).count()) <= 0) return false;
        ssize_t got = ::read(output_.get(), bytes, sizeof bytes);
        if (got > 0) said_.append(bytes, static_cast<size_t>(got));
        is_closed_ = got == 0;
        return got > 0;
    }

    pid_t pid_ = -1;
    base::Fd output_;
    std::string said_;
    bool is_closed_ = false;
};

}  // namespace testing_support
