// SPDX-License-Identifier: MIT
// Files below /etc that the caller can read although not everyone may: as owner or through a group. A jail
// shows only what is everyone's, because the caller's groups go along into it.
#pragma once

#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace host {

// The topmost such files and directories. The answer is kept in `kept_in` and used again for an hour at most,
// while no directory below `root` has changed: a file whose mode alone is tightened was everyone's until
// then. Whether any of them has changed is asked once a minute at most; in between only `root` itself and the
// directories with something to hide are looked at. So a secret that is put into another one is shown to
// those who may read it for a minute at most. A kept answer that can't be used is no error; a directory that
// can't be looked into for want of descriptors or memory is one.
base::Result<std::vector<base::Path>> find_private_files(const base::Path& root, const std::string& kept_in);

}  // namespace host
