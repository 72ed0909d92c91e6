// SPDX-License-Identifier: MIT
// Theory of operation. A place of the host can have several names: a link above the home directory, a bind
// mount of it elsewhere. So a path is compared by name, and each directory above it by device and inode.
#include "cli/sessions/asked_path.h"

#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <utility>

#include "audit/proposal.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "config/data.h"
#include "config/settings.h"
#include "session/directories.h"

namespace cli {
namespace {

// The jail has its own, or they lead everywhere.
constexpr std::string_view kNever[] = {"/proc", "/sys", "/dev", "/run", "/etc", "/boot"};

bool overlap(const base::Path& left, const base::Path& right) {
    return left.is_within(right) || right.is_within(left);
}

// Whether the path is, holds or lies in something that an entry such as ".config/*/token" names.
bool meets_entry(const base::Path& home, std::string_view entry, const base::Path& path) {
    if (entry.ends_with('/')) entry.remove_suffix(1);
    if (!overlap(path, home)) return false;
    if (home.is_within(path)) return true;
    const std::string relative(path.relative_to(home));
    const std::vector<std::string_view> parts = base::split(relative, '/');
    const std::vector<std::string_view> wanted = base::split(entry, '/');
    for (size_t at = 0; at < std::min(parts.size(), wanted.size()); ++at) {
        if (!base::matches_name(wanted[at], parts[at])) return false;
    }
    return true;
}

// The octal escapes of mountinfo: "\040".
std::string unescaped(std::string_view text) {
    std::string plain;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 3 < text.size()) {
            int code = 0;
            for (size_t digit = 1; digit <= 3; ++digit) code = code * 8 + (text[at + digit] - '0');
            plain += static_cast<char>(code);
            at += 3;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

std::vector<base::Path> with_physical(const base::Path& path) {
    std::vector<base::Path> both = {path};
    const host::DiskTree disk;
    base::Result<host::Tree::Resolved> resolved = disk.resolve(path);
    if (resolved && resolved->path != path) both.push_back(resolved->path);
    return both;
}

}  // namespace

UnmountedTree::UnmountedTree(std::string_view mounts) {
    for (std::string_view line : base::split(mounts, '\n')) {
        const std::vector<std::string_view> fields = base::split(line, ' ');
        auto separator = std::ranges::find(fields, "-");
        constexpr size_t kMountPoint = 4;
        if (separator == fields.end() || separator + 1 == fields.end() || fields.size() <= kMountPoint)
            continue;
        base::Result<base::Path> path = base::Path::parse(unescaped(fields[kMountPoint]));
        if (path) mounts_.push_back({*std::move(path), *(separator + 1) == "autofs"});
    }
}

namespace {

// Without the table nothing is looked up.
std::string mount_table() {
    base::Result<std::string> text = base::read_file("/proc/self/mountinfo", 64u << 20);
    return text ? *std::move(text) : std::string("0 0 0:0 / / - autofs unknown unknown\n");
}

}  // namespace

UnmountedTree::UnmountedTree() : UnmountedTree(mount_table()) {}

// The deepest mount counts, and of several at one place the last one.
bool UnmountedTree::would_mount(const base::Path& path) const {
    const Mounted* deepest = nullptr;
    for (const Mounted& mounted : mounts_) {
        bool is_deeper = deepest == nullptr || mounted.path.depth() >= deepest->path.depth();
        if (path.is_within(mounted.path) && is_deeper) deepest = &mounted;
    }
    return deepest != nullptr && deepest->is_automount;
}

std::optional<host::Node> UnmountedTree::look(const base::Path& path) const {
    return would_mount(path) ? std::nullopt : disk_.look(path);
}
const std::vector<host::Entry>& UnmountedTree::list(const base::Path& directory) const {
    static const std::vector<host::Entry> kNone;
    return would_mount(directory) ? kNone : disk_.list(directory);
}
base::Result<std::string> UnmountedTree::read(const base::Path& file, size_t limit) const {
    if (would_mount(file)) return base::Error{.what = file.str() + " is not mounted"};
    return disk_.read(file, limit);
}
bool UnmountedTree::may_write(const base::Path& path) const {
    return !would_mount(path) && disk_.may_write(path);
}

std::string identity_of(const base::Path& path) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) return {};
    return base::format("{}:{}:{}", status.st_dev, status.st_ino, status.st_mode & S_IFMT);
}

ProtectedPaths::ProtectedPaths(const Caller& caller, const Planned& planned)
    : planned_(planned),
      homes_(with_physical(planned.facts.identity.home)),
      projects_(with_physical(planned.plan.project)) {
    const Settings& settings = planned.settings;
    const config::Places& files = settings.workspace.files;
    const std::string home = planned.facts.identity.home.str();
    for (const std::string& place : session::runtime_places(
             host::variable(caller.environment, "XDG_RUNTIME_DIR").value_or(""), files.state_directory))
        add(place);
    for (const std::string& place : {files.user_directory, files.state_directory, files.admin_directory})
        add(place);
    for (std::string_view never : kNever) add(std::string(never));
    for (const config::Item& item : settings.policy.mounts.hidden)
        add(item.text.starts_with('~') ? home + item.text.substr(1) : item.text);
    for (const config::DataRow& row : config::data_list("home/credentials")) {
        if (!base::has_wildcard(row.entry)) add(base::format("{}/{}", home, row.entry));
    }
    // The home directory and the project count from above, too.
    for (const std::vector<base::Path>& roots : {homes_, projects_}) {
        for (base::Path above = roots.back();; above = above.parent()) {
            above_.push_back(identity_of(above));
            if (above.is_root()) break;
        }
    }
    inside_.push_back(identity_of(projects_.back()));
    std::erase(inside_, "");
    std::erase(above_, "");
}

void ProtectedPaths::add(const std::string& place) {
    base::Result<base::Path> parsed = base::Path::parse(place);
    if (!parsed) return;
    for (const base::Path& path : with_physical(*parsed)) {
        places_.push_back(path);
        inside_.push_back(identity_of(path));
        for (base::Path above = path; !above.is_root(); above = above.parent())
            above_.push_back(identity_of(above));
    }
}

bool ProtectedPaths::has_by_name(const base::Path& path) const {
    const policy::Policy& policy = planned_.settings.policy;
    const audit::Proposal proposal{config::find_setting("mounts.readonly"), path.str()};
    const std::span<const config::DataRow> credentials = config::data_list("home/credentials");
    for (const base::Path& home : homes_) {
        const audit::UserDirectories directories{
            .home = home, .project = planned_.plan.project, .admin_directory = {}};
        if (!audit::objection_to(proposal, directories).empty()) return true;
        bool has_credentials = std::ranges::any_of(
            credentials, [&](const config::DataRow& row) { return meets_entry(home, row.entry, path); });
        if (has_credentials) return true;
    }
    auto meets = [&](const base::Path& place) { return overlap(path, place); };
    if (std::ranges::any_of(projects_, meets) || std::ranges::any_of(places_, meets)) return true;
    // The names of files with secrets, wherever they are.
    return std::ranges::any_of(path.components(), [&](std::string_view part) {
        return std::ranges::any_of(policy.project.mask, [&](const config::Item& item) {
            return base::matches_name(item.text, part);
        });
    });
}

// By another mount of the same place.
bool ProtectedPaths::has_by_identity(const base::Path& path) const {
    if (std::ranges::count(above_, identity_of(path)) > 0) return true;
    const std::string home = identity_of(homes_.back());
    for (base::Path above = path; !above.is_root(); above = above.parent()) {
        const std::string identity = identity_of(above);
        if (identity.empty()) continue;
        if (std::ranges::count(inside_, identity) > 0) return true;
        bool is_home = identity == home && std::ranges::count(homes_, above) == 0 && above != path;
        if (is_home && has_by_name(homes_.back() / path.relative_to(above))) return true;
    }
    return false;
}

bool ProtectedPaths::has(const base::Path& path) const {
    return has_by_name(path) || has_by_identity(path);
}

}  // namespace cli
