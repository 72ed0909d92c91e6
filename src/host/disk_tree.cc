// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <limits.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <span>

#include "base/file.h"
#include "host/tree.h"

namespace host {
namespace {

constexpr size_t kLargestRemembered = 256u << 10;
// The most names that a lookup compares one by one to find that a name is missing.
constexpr size_t kLargestSearched = 1000;
constexpr time_t kLongestTick = 10;  // more than the time stamp granularity of any file system, in seconds

Kind kind_of_mode(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return Kind::file;
        case S_IFDIR:
            return Kind::directory;
        case S_IFLNK:
            return Kind::symlink;
        case S_IFSOCK:
            return Kind::socket;
        case S_IFCHR:
        case S_IFBLK:
            return Kind::device;
        default:
            return Kind::other;
    }
}

// The text of the link at `path`; empty where it can't be read.
std::string read_link(const base::Path& path) {
    char text[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    return length > 0 ? std::string(text, static_cast<size_t>(length)) : std::string();
}

bool is_only_roots(const struct stat& status) {
    return S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & 0022) == 0;
}

// Local file systems on which creating or removing a name changes the directory's time stamps. Automounter
// file systems are not among them, because they create names on access, nor are the kernel's own.
constexpr unsigned long kLocal[] = {
    0xef53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683e,  // Btrfs
    0x01021994,  // tmpfs, also at /dev
    0xf2f52010,  // F2FS
    0x2fc12fc1,  // ZFS
    0x794c7630,  // overlayfs
};
// File systems shared by several machines: a listing is complete, but the time stamp may be updated late.
constexpr unsigned long kShared[] = {
    0x6969,      // NFS
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
};

bool is_one_of(std::span<const unsigned long> types, const struct statfs& status) {
    return std::ranges::find(types, static_cast<unsigned long>(status.f_type)) != types.end();
}

bool is_local(const base::Path& directory) {
    struct statfs status;
    return ::statfs(directory.c_str(), &status) == 0 && is_one_of(kLocal, status);
}

bool lists_all(int directory) {
    struct statfs status;
    return ::fstatfs(directory, &status) == 0 && (is_one_of(kLocal, status) || is_one_of(kShared, status));
}

// True unless it is missing or an empty directory: placeholders of other sessions come and go.
bool has_come_back(const base::Path& path) {
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) return false;
    if (!S_ISDIR(status.st_mode)) return true;
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    bool has_entry = false;
    bool is_read =
        fd && base::visit_entries(fd.get(), [&](const struct dirent64&) { return !(has_entry = true); });
    return has_entry || !is_read;
}

bool is_plain(std::string_view name) {
    return std::ranges::all_of(name, [](unsigned char letter) { return letter > ' ' && letter < 0x7f; });
}

// Some file systems do not report the type of an entry in the directory.
Kind kind_of_entry(int directory, const struct dirent64& entry) {
    if (entry.d_type != DT_UNKNOWN) return kind_of_mode(DTTOIF(entry.d_type));
    struct stat status;
    bool is_seen = ::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    return is_seen ? kind_of_mode(status.st_mode) : Kind::other;
}

}  // namespace

std::optional<Node> DiskTree::look(const base::Path& path) const {
    return see(path).node;
}

std::optional<Glance> DiskTree::glance(const base::Path& path) const {
    bool is_seen = seen_.contains(path);
    if (const KnownNames::Answer* known = is_seen ? nullptr : recall(path)) return *known;
    return Tree::glance(path);
}

const DiskTree::Seen& DiskTree::see(const base::Path& path) const {
    if (auto known = seen_.find(path); known != seen_.end()) return known->second;
    const KnownNames::Answer* known = recall(path);
    Seen& seen = seen_[path];
    if (known != nullptr && !*known) return seen;
    struct stat status;
    bool is_there = ::lstat(path.c_str(), &status) == 0;
    bool is_absent = !is_there && errno == ENOENT;
    if (is_absent && is_listed(path)) failures_.emplace_back(path, ENOENT);
    if (!is_there && !is_absent) note_failure(path, errno);
    if (is_absent && !names_file_.empty()) looked_at_.push_back(path);
    if (!is_there) return seen;
    Node node{.kind = kind_of_mode(status.st_mode),
              .mode = status.st_mode & 07777u,
              .owner = status.st_uid,
              .group = status.st_gid,
              .link = S_ISLNK(status.st_mode) ? read_link(path) : std::string(),
              .changed = int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
    if (is_only_roots(status)) {
        seen.identity = identity_of(status);
        seen.changed = std::max(status.st_ctim.tv_sec, status.st_mtim.tv_sec);
    }
    // Treat a link that can't be read as missing.
    if (node.kind == Kind::symlink && node.link.empty()) return seen;
    seen.node = std::move(node);
    if (!names_file_.empty()) looked_at_.push_back(path);
    return seen;
}

bool DiskTree::Recalled::contains(const base::Path& path, std::string_view name) const {
    if (names == nullptr) return false;
    const std::string& text = path.str();
    const std::string& above = directory.str();
    return text.size() == above.size() + 1 + name.size() && text.starts_with(above);
}

const KnownNames::Answer* DiskTree::recall(const base::Path& path) const {
    static const KnownNames::Answer kNothing;
    if (path.is_root()) return nullptr;
    const std::string_view name = path.name();
    if (last_recalled_.contains(path, name)) {
        if (const KnownNames::Answer* known = KnownNames::find(*last_recalled_.names, name)) return known;
    }
    const base::Path directory = path.parent();
    if (is_known_to_lack(directory, name)) return &kNothing;
    if (names_file_.empty() || !names_.has(directory)) return nullptr;
    const Seen& parent = see(directory);
    if (parent.identity.empty()) return nullptr;
    const KnownNames::Names* names = names_.names_of(directory, parent.identity);
    if (names == nullptr) return nullptr;
    last_recalled_ = {.directory = directory, .names = names};
    return KnownNames::find(*names, name);
}

bool DiskTree::is_known_to_lack(const base::Path& directory, std::string_view name) const {
    // Below a missing directory everything is missing.
    auto seen = seen_.find(directory);
    if (seen != seen_.end() && !seen->second.node) return true;
    if (seen == seen_.end()) {
        const KnownNames::Answer* known = recall(directory);
        if (known != nullptr && !*known) return true;
    }
    // A file system may ignore the case of names, or compare them in another way.
    auto listed = listed_.find(directory);
    if (listed == listed_.end() || !listed->second.is_complete || !is_plain(name)) return false;
    return std::ranges::none_of(listed->second.entries, [&](const Entry& entry) {
        bool is_alike = entry.name.size() == name.size() &&
                        ::strncasecmp(entry.name.data(), name.data(), name.size()) == 0;
        return is_alike || !is_plain(entry.name);
    });
}

base::Fd DiskTree::open_to_list(const base::Path& directory) const {
    base::Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
    if (fd) return fd;
    const int number = errno;
    auto seen = seen_.find(directory);
    bool has_vanished = number == ENOENT && (seen == seen_.end() || seen->second.node);
    if (has_vanished) failures_.emplace_back(directory, ENOENT);
    note_failure(directory, number);
    errno = number;
    return {};
}

const std::vector<Entry>& DiskTree::list(const base::Path& directory) const {
    auto [place, is_new] = listed_.try_emplace(directory);
    Listing& listing = place->second;
    if (!is_new) return listing.entries;
    base::Fd fd = open_to_list(directory);
    if (!fd) return listing.entries;
    bool is_read = base::visit_entries(fd.get(), [&](const struct dirent64& entry) {
        listing.entries.push_back({entry.d_name, kind_of_entry(fd.get(), entry)});
        return true;
    });
    if (!is_read) note_failure(directory, errno);
    // In a large directory one lstat is cheaper than a comparison with all names.
    listing.is_complete = is_read && listing.entries.size() <= kLargestSearched && lists_all(fd.get());
    std::ranges::sort(listing.entries, {}, &Entry::name);
    return listing.entries;
}

bool DiskTree::visit(const base::Path& directory, const std::function<bool(const Entry&)>& visitor) const {
    if (listed_.contains(directory)) return Tree::visit(directory, visitor);
    base::Fd fd = open_to_list(directory);
    if (!fd) return errno != EACCES;
    Listing listing;
    bool is_whole = true;
    bool is_read = base::visit_entries(fd.get(), [&](const struct dirent64& entry) {
        const Entry read{entry.d_name, kind_of_entry(fd.get(), entry)};
        is_whole = visitor(read);
        if (listing.entries.size() <= kLargestSearched) listing.entries.push_back(read);
        return is_whole;
    });
    if (!is_read) note_failure(directory, errno);
    if (!is_read || !is_whole || listing.entries.size() > kLargestSearched) return true;
    listing.is_complete = lists_all(fd.get());
    std::ranges::sort(listing.entries, {}, &Entry::name);
    listed_.insert_or_assign(directory, std::move(listing));
    return true;
}

base::Result<std::string> DiskTree::read(const base::Path& file, size_t limit) const {
    auto known = read_.find(file);
    if (known != read_.end() && known->second.size() <= limit) return known->second;
    errno = 0;
    base::Result<std::string> content = base::read_file(file.str(), limit);
    if (!content && base::is_shortage(errno)) note_failure(file, errno);
    bool is_kept = content && known == read_.end() && content->size() <= kLargestRemembered;
    if (is_kept) read_.emplace(file, *content);
    return content;
}

bool DiskTree::may_write(const base::Path& path) const {
    auto [place, is_new] = may_write_.try_emplace(path);
    if (is_new) place->second = ::access(path.c_str(), W_OK) == 0;
    return place->second;
}

void DiskTree::note_failure(const base::Path& path, int number) const {
    if (!base::is_closed_or_gone(number)) failures_.emplace_back(path, number);
}

bool DiskTree::is_listed(const base::Path& path) const {
    auto listed = listed_.find(path.parent());
    return listed != listed_.end() &&
           std::ranges::binary_search(listed->second.entries, path.name(), {}, &Entry::name);
}

// Threat: a directory that can't be listed looks like an empty one, and secrets in it stay readable. The same
// happens if a directory is moved away for a moment and back (tests/jail/resource_faults.bats).
base::Status DiskTree::check(const base::Path& project) const {
    for (const auto& [path, number] : failures_) {
        bool is_ours = path.is_within(project);
        if (number == ENOENT) {
            // A file that is removed while we look is gone for good. A project that is away right now may be
            // back when the jail is built.
            if (!is_ours || (!has_come_back(path) && base::file_exists(project.str()))) continue;
            return base::Error{.what = path.str() + " was gone for a moment while the project was looked at",
                               .advice = "try again, and look for what moves it"};
        }
        if (base::is_shortage(number) || is_ours) return base::system_error("look at " + path.str(), number);
    }
    return base::success();
}

void DiskTree::recall_names(const std::string& file) const {
    last_recalled_ = {};
    names_ = KnownNames::recall(file, ::time(nullptr));
    names_file_ = file;
}

void DiskTree::keep_names() const {
    if (names_file_.empty()) return;
    std::unordered_map<base::Path, bool> is_fit;
    // see() adds directories to this list: the topmost missing one also answers for everything below it.
    while (!looked_at_.empty()) {
        const base::Path path = std::move(looked_at_.back()), directory = path.parent();
        looked_at_.pop_back();
        if (path.is_root()) continue;
        const Seen& parent = see(directory);
        if (parent.identity.empty()) continue;
        if (names_.find(directory, parent.identity, path.name()) != nullptr) continue;
        auto [place, is_new] = is_fit.try_emplace(directory);
        // A directory that changed just now may change again without a new time stamp.
        bool has_settled = parent.changed + kLongestTick < names_.began();
        if (is_new) place->second = has_settled && is_local(directory) && !may_write(directory);
        if (place->second) names_.learn(directory, parent.identity, path.name(), Tree::glance(path));
    }
    names_.keep(names_file_);
}

}  // namespace host
