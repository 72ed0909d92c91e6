// SPDX-License-Identifier: MIT
// Files below /etc that the caller can read although not everyone may: as owner or through a group. A jail
// shows only what is everyone's, because the caller's groups go along into it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace host {

// The topmost such files and directories, sorted. Every file is looked at, because a mode that changes leaves
// no trace in the directory. A directory that can't be looked into for want of descriptors or memory is an
// error.
base::Result<std::vector<base::Path>> find_private_files(const base::Path& root);

// What an earlier launch has found. A launch may plan with it, so that it need not wait for the look, but
// must look before the command runs (src/cli/run.cc). Nothing where no answer is kept.
std::optional<std::vector<base::Path>> recall_private_files(const std::string& kept_in);
// If the answer can't be written, the next launch looks first.
void keep_private_files(const std::string& kept_in, const std::vector<base::Path>& found);

}  // namespace host
