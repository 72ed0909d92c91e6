// SPDX-License-Identifier: MIT
// Paths in the notation of sandbox-runtime: the part of the machine that a path means, and which path
// contains another.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace config {

enum class SrtRegion { project, in_project, home, in_home, temporary, device, system, root, elsewhere };

struct SrtSpot {
    SrtRegion region;
    std::string path;          // from / or ~, or relative to the project
    bool is_anywhere = false;  // at any depth in the project
};

// A path whose meaning is unknown counts as the root, which covers everything. `home` may be empty.
SrtSpot classify_srt_path(std::string_view raw, std::string_view home);

// Whether `path` is `directory` or below it.
bool is_path_within(std::string_view path, std::string_view directory);

// The path up to the first component that is a pattern.
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
