// SPDX-License-Identifier: MIT
// Paths as sandbox-runtime writes them: which part of the machine one means, and how they lie to each other.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace config {

enum class SrtRegion { project, in_project, home, in_home, temporary, device, system, root, elsewhere };

struct SrtSpot {
    SrtRegion region;
    std::string path;          // from / or ~, or from the project on
    bool is_anywhere = false;  // at any depth of the project
};

// A path whose meaning is not certain counts as the root, which covers everything. `home` may be empty.
SrtSpot classify_srt_path(std::string_view raw, std::string_view home);

// At `directory` or below it.
bool is_path_within(std::string_view path, std::string_view directory);

// Up to the first component that is a pattern.
std::string fixed_part_of_path(const std::string& path);

// Paths that begin with / or ~.
class SrtPlaces {
  public:
    void add(std::string path) { paths_.insert(std::move(path)); }
    // Whether one of them is `path`, or above it.
    bool hold(const std::string& path) const;

  private:
    std::set<std::string> paths_;
};

}  // namespace config
