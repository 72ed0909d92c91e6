// SPDX-License-Identifier: MIT
#include "layers/clone/listing.h"

#include <fcntl.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/text.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr std::string_view kListingFormat = "agent-sandbox clone 1";
constexpr const char* kListing = "/listing";
constexpr size_t kLargestListing = 2u << 30;
constexpr int kMostTicks = 50;

uint32_t type_of(uint32_t mode) {
    return mode & S_IFMT;
}

// The kernel takes the ctime from a clock that moves a few hundred times in a second.
void wait_for_later_ctime(int64_t last) {
    for (int tick = 0; tick < kMostTicks; ++tick) {
        struct timespec now;
        ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
        if (nanoseconds(now) > last) return;
        ::poll(nullptr, 0, 1);
    }
}

}  // namespace

bool is_tree_of_clone(std::string_view path) {
    return path.ends_with(std::string(kClone) + kCloneTree);
}

bool Listed::is_unchanged(const struct stat& copy) const {
    if (type_of(mode) != type_of(copy.st_mode)) return false;
    if (is_directory()) return (mode & 07777) == (copy.st_mode & 07777);
    return inode != 0 && inode == copy.st_ino && (changed == 0 || changed == nanoseconds(copy.st_ctim));
}

// The ctime of a directory changes with each name that is made in it.
bool Listed::is_unchanged_outside(const struct stat& now) const {
    if (type_of(mode) != type_of(now.st_mode)) return false;
    if (is_directory()) return (mode & 01777) == (now.st_mode & 01777);
    return original == now.st_ino && original_changed == nanoseconds(now.st_ctim);
}

base::Result<Listing> Listing::load(const std::string& directory) {
    base::Result<std::string> text = base::read_file(directory + kListing, kLargestListing);
    if (!text) return text.error();
    base::FieldReader reader(*text);
    Listing listing;
    bool is_good = reader.next() == kListingFormat;
    while (is_good && !reader.is_at_end()) {
        std::string path;
        Listed entry;
        reader.get(path);
        reader.get(entry.mode);
        reader.get(entry.inode);
        reader.get(entry.changed);
        reader.get(entry.original);
        reader.get(entry.original_changed);
        is_good = reader.is_good();
        if (is_good) listing.add(path, entry);
    }
    if (is_good) return listing;
    return base::Error{.what = base::format("{}{} is damaged", base::printable(directory), kListing),
                       .advice = "'agent-sandbox discard' removes the layer",
                       .exit_code = base::ExitCode::check_failed};
}

base::Status Listing::save(const std::string& directory) const {
    base::FieldWriter writer;
    writer.add(kListingFormat);
    int64_t last = 0;
    for (const auto& [path, entry] : entries_) {
        writer.add(path);
        writer.add(entry.mode);
        writer.add(entry.inode);
        writer.add(entry.changed);
        writer.add(entry.original);
        writer.add(entry.original_changed);
        last = std::max(last, entry.changed);
    }
    const std::string path = directory + kListing, fresh = path + ".new";
    base::Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return base::system_error("write " + base::printable(path), errno);
    if (base::Status written = base::write_all(file.get(), writer.take()); !written) return written;
    if (::rename(fresh.c_str(), path.c_str()) != 0)
        return base::system_error("write " + base::printable(path), errno);
    wait_for_later_ctime(last);
    return base::success();
}

void Listing::add(const std::string& path, const Listed& entry) {
    auto [known, is_new] = entries_.insert_or_assign(path, entry);
    if (is_new && !path.empty()) below_[parent_of(path)].push_back(path);
}

const Listed* Listing::find(const std::string& path) const {
    auto found = entries_.find(path);
    return found == entries_.end() ? nullptr : &found->second;
}

const std::vector<std::string>& Listing::below(const std::string& directory) const {
    static const std::vector<std::string> kNone;
    auto found = below_.find(directory);
    return found == below_.end() ? kNone : found->second;
}

Listing Listing::carried_over(int from, int to, bool can_change) const {
    Listing copy;
    for (const auto& [path, entry] : entries_) {
        Listed own = entry;
        struct stat before, after;
        bool is_unchanged = look(from, path, before) == 0 && entry.is_unchanged(before) &&
                            look(to, path, after) == 0 && type_of(after.st_mode) == type_of(entry.mode);
        if (!entry.is_directory()) {
            own.inode = is_unchanged ? after.st_ino : 0;
            own.changed = is_unchanged && can_change ? nanoseconds(after.st_ctim) : 0;
        }
        copy.add(path, own);
    }
    return copy;
}

size_t Listing::count_files_at(const std::string& path) const {
    const Listed* listed = find(path);
    if (listed == nullptr) return 0;
    if (!listed->is_directory()) return 1;
    size_t count = 0;
    for (const std::string& each : below(path)) count += count_files_at(each);
    return count;
}

size_t Listing::count_changes(int clone, size_t most) const {
    size_t count = 0, looked_at = 0;
    std::vector<std::string> directories = {""};
    while (!directories.empty() && looked_at < most) {
        const std::string directory = std::move(directories.back());
        directories.pop_back();
        base::Result<std::vector<std::string>> names = names_in(clone, directory);
        if (!names) continue;
        for (const std::string& name : *names) {
            const std::string path = join(directory, name);
            struct stat status;
            if (++looked_at > most || look(clone, path, status) != 0) continue;
            const Listed* listed = find(path);
            if (S_ISDIR(status.st_mode)) {
                directories.push_back(path);
            } else if (listed == nullptr || !listed->is_unchanged(status)) {
                ++count;
            }
        }
        for (const std::string& path : below(directory)) {
            bool is_missing = !std::ranges::binary_search(*names, std::string(base::base_name(path)));
            if (is_missing) count += count_files_at(path);
        }
    }
    return count;
}

}  // namespace layers
