// SPDX-License-Identifier: MIT
// Gets the value of a credential from its source: a command, a file, a variable of the launching shell, the
// desktop's keyring, or the program's own store.
//
// A command runs without a shell, in a session of its own without a terminal, in the root directory, and for
// at most ten seconds. Its standard error is discarded: a message must not contain a part of a value.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "credentials/credential.h"
#include "secrets/answer.h"
#include "secrets/outside.h"

namespace secrets {

constexpr std::chrono::seconds kLongestSource{10};
constexpr size_t kLargestAnswer = 16384;

// For a process with an event loop: wait for descriptor() at most patience() milliseconds, call serve(),
// until is_done(). A file, a variable and the store are done at once.
class Fetching {
  public:
    Fetching(const credentials::Credential& credential, const Surroundings& surroundings);
    ~Fetching();
    Fetching(const Fetching&) = delete;
    Fetching& operator=(const Fetching&) = delete;

    bool is_done() const { return result_.has_value(); }
    // Negative: nothing to wait for but the time.
    int descriptor() const { return is_done() || is_at_end_ ? -1 : answer_.get(); }
    int patience() const;  // -1: done
    void serve();

    // Once, when it is done. Errors name the credential and its source.
    base::Result<Fetched> take();
    // "the command gh auth token", "the variable GH_TOKEN".
    const std::string& origin() const { return origin_; }

  private:
    using Clock = std::chrono::steady_clock;

    void begin(const credentials::Credential& credential, const Surroundings& surroundings);
    base::Result<Fetched> read_own(const credentials::Credential& credential,
                                   const Surroundings& surroundings);
    base::Result<Fetched> read_login(const credentials::Credential& credential,
                                     const Surroundings& surroundings);
    base::Result<Fetched> read_variable(const Surroundings& surroundings, const std::string& name);
    base::Status start(const std::vector<std::string>& words, const Surroundings& surroundings);
    void drain();
    void finish(base::Result<Fetched> result);
    void end_child();
    void judge(int status);

    std::string name_, origin_;
    AnswerKind kind_;
    std::optional<base::Result<Fetched>> result_;
    base::Fd answer_;
    std::string text_;
    pid_t child_ = -1;
    bool is_at_end_ = false;
    Clock::time_point deadline_;
};

// Waits for the value.
base::Result<Fetched> await_value(Fetching& fetching);
base::Result<Fetched> fetch(const credentials::Credential& credential, const Surroundings& surroundings);

// The path of `from_file`.
std::string file_of(const credentials::Source& source, const base::Path& home);

}  // namespace secrets
