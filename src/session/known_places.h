// SPDX-License-Identifier: MIT
// Places of a project that an earlier session found: files to mask and nested repositories. The next launch
// checks each again and covers it before its command starts, however large the project has become. The file
// lies in the state directory, which no jail can write (tests/jail/own_files.bats).
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"

namespace session {

// Relative to the project; nothing where there is no file that can be believed.
std::vector<std::string> read_known_places(const std::string& state_directory, const base::Path& project);

class KnownPlaces {
  public:
    // Opens the directory, so that it can be written from another mount namespace.
    KnownPlaces(const std::string& state_directory, const base::Path& project);

    // In this order, as many as fit; nothing is written where the file says the same.
    void write(const std::vector<std::string>& places);

  private:
    base::Fd directory_;
    std::string name_;
    std::string project_;
    std::string written_;
};

}  // namespace session
