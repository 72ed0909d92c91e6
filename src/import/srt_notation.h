// SPDX-License-Identifier: MIT
// The keys and paths of sandbox-runtime.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace config {

// The keys of sandbox-runtime: the part of the importer that reads each key, or why it is left out.

enum class SrtPart {
    section,  // an object with its own keys
    allowed_domains,
    denied_domains,
    denied_addresses,
    parent_proxy,
    deny_read,
    allow_read,
    allow_write,
    deny_write,
    git_config,
    credential_files,
    credential_variables,
    switched_off,  // left out if true; false is the behaviour here anyway
    left_out,
};

struct SrtKey {
    std::string_view path;  // "network.allowedDomains"
    SrtPart part;
    std::string_view reason;
};

// Null for an unknown key.
const SrtKey* find_srt_key(std::string_view path);

// Whether this top-level key marks a file of sandbox-runtime.
bool is_srt_section(std::string_view key);

// Paths in the notation of sandbox-runtime: the part of the machine that a path means, and which path
// contains another.

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
