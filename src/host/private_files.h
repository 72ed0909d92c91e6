// SPDX-License-Identifier: MIT
// Files below /etc that the caller can read although not everyone may: as owner or through a group. A jail
// shows only what is everyone's, because the caller's groups go along into it.
#pragma once

#include <pthread.h>

#include <optional>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace host {

// The topmost such files and directories, sorted. Every file is looked at, because a mode that changes leaves
// no trace in the directory. A directory that can't be looked into for want of descriptors or memory is an
// error.
base::Result<std::vector<base::Path>> find_private_files(const base::Path& root);

// The same search in a thread of its own, which runs while the caller does other things. Where no thread can
// be started, wait() searches.
class PrivateFilesSearch {
  public:
    explicit PrivateFilesSearch(base::Path root);
    ~PrivateFilesSearch();
    PrivateFilesSearch(const PrivateFilesSearch&) = delete;
    PrivateFilesSearch& operator=(const PrivateFilesSearch&) = delete;

    base::Result<std::vector<base::Path>> wait();

  private:
    static void* search(void* self);
    void end_thread();

    base::Path root_;
    std::optional<pthread_t> thread_;
    std::optional<base::Result<std::vector<base::Path>>> found_;
};

}  // namespace host
