// SPDX-License-Identifier: MIT
// Places of a project that an earlier session found: files to mask and nested repositories. The next launch
// checks each again and covers it before its command starts, even in a large project. The file is in the
// state directory, which no jail can write (tests/jail/own_files.bats).
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"

namespace session {

// Relative to the project. Empty if there is no complete file that belongs to the user.
std::vector<std::string> read_known_places(const std::string& state_directory, const base::Path& project);

class KnownPlaces {
  public:
    // Opens the directory, so that write() also works from another mount namespace.
    KnownPlaces(const std::string& state_directory, const base::Path& project);

    // Writes as many as fit, in this order. Does nothing if the file has the same content already.
    void write(const std::vector<std::string>& places);

  private:
    base::Fd directory_;
    std::string name_;
    std::string project_;
    std::string written_;
};

}  // namespace session
