// SPDX-License-Identifier: MIT
// Files below /etc that the caller can read although not everyone may: as owner or through a group. A jail
// shows only what is everyone's, because the caller's groups go along into it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace host {

// The search, one directory at a time. One process can begin it and another one go on.
class PrivateFilesWalk {
  public:
    explicit PrivateFilesWalk(base::Path root) { state_.pending.push_back(std::move(root)); }

    bool is_over() const { return state_.pending.empty() || problem_; }
    void look_into_next();
    // Looks into all that are left. The topmost private files and directories, sorted. A directory that can't
    // be looked into for want of descriptors or memory is an error.
    base::Result<std::vector<base::Path>> finish();

    // Empty after an error: the other process then begins anew, and gets it.
    std::string encode() const;
    static std::optional<PrivateFilesWalk> decode(std::string_view text);

    struct State {
        std::vector<base::Path> found;
        std::vector<base::Path> pending;  // directories to look into
    };

  private:
    explicit PrivateFilesWalk(State state) : state_(std::move(state)) {}
    void look_at(int directory, const base::Path& path, const char* name);
    void give_up_on(const base::Path& path, int number);

    State state_;
    std::optional<base::Error> problem_;
};

// Every file is looked at, because a mode that changes leaves no trace in the directory.
base::Result<std::vector<base::Path>> find_private_files(const base::Path& root);

// The list that the last launch on this machine found. It is a guess: the launch that plans with it must
// search and compare before its command starts. Nothing: no complete list is there.
std::optional<std::vector<base::Path>> recall_private_files(const std::string& state_directory);
void keep_private_files(const std::string& state_directory, const std::vector<base::Path>& found);

}  // namespace host
