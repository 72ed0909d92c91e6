// SPDX-License-Identifier: MIT
// Theory of operation. The private home directory is a tmpfs that only the jail's mount namespace contains.
// The stage opens it before the command starts and sends the descriptor, which keeps the tmpfs alive when the
// jail is dead. Then no process of the jail can change it any more, and the supervisor (or the keeper, if the
// supervisor was killed) lists what the jail made and copies it into the state directory.
//
// The content is an attacker's. So the walk follows no link, opens only regular files and directories of the
// tmpfs itself, and is bounded in files, bytes, depth and time. Nothing here runs if the jail wrote nothing:
// the tmpfs then has as many files and pages as at the start.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "plan/plan.h"
#include "session/discarded/discarded.h"

namespace session {

class PrivateHome {
  public:
    PrivateHome(const plan::Plan& plan, const std::string& state_directory, const std::string& session)
        : plan_(plan), state_directory_(state_directory), session_(session) {}
    PrivateHome(const PrivateHome&) = delete;
    PrivateHome& operator=(const PrivateHome&) = delete;

    // In the supervisor, before the command starts.
    void take(base::Fd directory);
    // In the keeper, which may get it later.
    void inherit(base::Fd directory) { directory_ = std::move(directory); }
    int descriptor() const { return directory_.get(); }  // -1: none

    // The jail must be dead. Stores what it made, and closes the directory.
    Discarded save();

    struct Limits {
        size_t files = 20'000;
        uint64_t bytes = 200u << 20;
        uint64_t bytes_of_all = 400u << 20;  // of all sessions
        size_t paths = 1'000;
        size_t depth = 100;
        std::chrono::milliseconds time{2'000};
    };

  private:
    struct Fill {
        uint64_t files = 0, pages = 0;
        bool operator==(const Fill&) const = default;
    };
    static std::optional<Fill> fill_of(int directory);
    bool is_untouched() const;
    void store(Discarded& discarded) const;

    const plan::Plan& plan_;
    const std::string& state_directory_;
    const std::string& session_;
    base::Fd directory_;
    std::optional<Fill> at_start_;
    timespec started_ = {};
};

}  // namespace session
