// SPDX-License-Identifier: MIT
#include "import/srt_paths.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/format.h"
#include "base/glob.h"
#include "base/text.h"

namespace config {

bool is_path_within(std::string_view path, std::string_view directory) {
    return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

namespace {

using Region = SrtRegion;

// Every jail has these, and they are never writable.
constexpr std::array<std::string_view, 10> kSystem = {"/usr", "/bin", "/sbin", "/lib", "/lib64",
                                                      "/opt", "/etc", "/proc", "/sys", "/run"};
constexpr std::array<std::string_view, 4> kTemporary = {"/tmp", "/var/tmp", "/private/tmp", "/dev/shm"};
bool is_in(std::string_view path, std::span<const std::string_view> directories) {
    return std::ranges::any_of(directories, [&](std::string_view one) { return is_path_within(path, one); });
}

// A path with "..", or in an unknown user's home directory, could be any path. If it is denied, it covers
// everything.
bool is_uncertain(std::string_view path) {
    std::vector<std::string_view> parts = base::split(path, '/');
    bool is_of_other = path.starts_with('~') && path != "~" && !path.starts_with("~/");
    bool is_rooted = path.starts_with('/') || path.starts_with('~');
    return is_of_other || (is_rooted && std::ranges::find(parts, "..") != parts.end());
}

// Turns "/data//x/./y" into /data/x/y, and a path in the home directory into one with ~.
std::string plain_path(std::string_view path, std::string_view home) {
    std::string plain(path.substr(0, path.starts_with('~') ? 1 : 0));
    for (std::string_view part : base::split(path.substr(plain.size()), '/')) {
        if (!part.empty() && part != ".") plain += base::format("/{}", part);
    }
    if (!home.empty() && home != "/" && is_path_within(plain, home)) plain = "~" + plain.substr(home.size());
    return plain.empty() ? "/" : plain;
}

}  // namespace

std::string fixed_part_of_path(const std::string& path) {
    if (!base::has_wildcard(path)) return path;
    std::string fixed;
    for (std::string_view part : base::split(path, '/')) {
        if (base::has_wildcard(part)) break;
        if (!part.empty()) fixed += (part == "~" ? "" : "/") + std::string(part);
    }
    return fixed.empty() ? "/" : fixed;
}

SrtSpot classify_srt_path(std::string_view raw, std::string_view home) {
    // "src/**" and "src/" mean src; Claude Code wrote "//data" for /data.
    while (raw.ends_with("/**")) raw.remove_suffix(3);
    while (raw.size() > 1 && raw.ends_with('/')) raw.remove_suffix(1);
    while (raw.starts_with("//")) raw.remove_prefix(1);
    while (raw.starts_with("./")) raw.remove_prefix(2);
    bool is_anywhere = raw.starts_with("**/");
    // A name without a slash already matches at any depth.
    if (is_anywhere && raw.find('/', 3) == std::string_view::npos) raw.remove_prefix(3);
    if (is_uncertain(raw)) return {Region::root, std::string(raw)};
    bool is_rooted = raw.starts_with('/') || raw.starts_with('~');
    std::string path = is_rooted ? plain_path(raw, home) : std::string(raw);
    if (path.empty() || path == "." || path == "**") return {Region::project, path};
    if (path == "~") return {Region::home, path};
    if (path.starts_with("~/")) return {Region::in_home, path};
    if (path == "/") return {Region::root, path};
    if (!path.starts_with('/')) return {Region::in_project, path, is_anywhere};
    if (is_in(path, kTemporary)) return {Region::temporary, path};
    if (is_path_within(path, "/dev")) return {Region::device, path};
    if (is_in(path, kSystem)) return {Region::system, path};
    return {Region::elsewhere, path};
}

bool SrtPlaces::hold(const std::string& path) const {
    if (paths_.contains("/")) return true;
    for (size_t end = path.size(); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
        if (paths_.contains(path.substr(0, end))) return true;
    }
    return false;
}

}  // namespace config
