// SPDX-License-Identifier: MIT
#include "plan/project/git_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "plan/project/git.h"

namespace plan {
namespace {

constexpr std::string_view kSignature = "DIRC";
constexpr size_t kStatus = 40;          // bytes of times, device, inode, mode, owner, group and size
constexpr size_t kHashes[] = {20, 32};  // SHA-1, SHA-256: the index does not name which
// Together: some 40,000 files, read in a millisecond.
constexpr size_t kLargestIndexes = 4u << 20;
constexpr int kMostRepositories = 8;

constexpr uint64_t kNameLength = 0xfff, kHasMoreFlags = 0x4000, kKnownFlags = 0x6000;
constexpr uint64_t kTypeBits = 0170000, kGitlink = 0160000;
constexpr size_t kMode = 24;                    // its place in an entry
constexpr size_t kHeader = 12, kExtension = 8;  // bytes in front of entries, and of an extension

// Reads as read-cache.c of git does, and refuses what git dies of.
class IndexReader {
  public:
    IndexReader(std::string_view text, size_t hash) : text_(text), hash_(hash) {}

    // Calls `visit` with the path and the mode of each entry. False: malformed.
    template <typename Visit>
    bool read_entries(const Visit& visit) {
        if (text_.size() < kHeader || !text_.starts_with(kSignature)) return false;
        at_ = kSignature.size();
        version_ = take_number(4);
        const uint64_t entries = take_number(4);
        if (version_ < 2 || version_ > 4) return false;
        for (uint64_t entry = 0; entry < entries; ++entry) {
            starts_.push_back({at_, false});
            std::optional<uint64_t> mode = take_entry();
            if (!mode) return false;
            // git takes the name as a C string.
            visit(std::string_view(path_).substr(0, path_.find('\0')), *mode);
        }
        return true;
    }

    // Behind the entries. Threat: the parts that git reads side by side may begin elsewhere, so that git
    // reads other entries than this reader.
    std::optional<std::string> read_extensions() {
        std::string shared;
        if (text_.size() < hash_ || at_ > text_.size() - hash_) return std::nullopt;
        const size_t end = text_.size() - hash_, entries_end = at_;
        // git looks for it at this place, in whatever extension that is.
        const size_t known_place = end - std::min(end, kExtension + 4 + hash_);
        if (text_.substr(known_place, 4) == "EOIE") {
            at_ = known_place + kExtension;
            if (take_number(4) != entries_end) return std::nullopt;
            at_ = entries_end;
        }
        while (at_ + kExtension <= end) {
            const std::string_view name = text_.substr(at_, 4);
            at_ += 4;
            const size_t size = take_number(4), next = at_ + size;
            if (next > end) return std::nullopt;
            if (name == "link" && size < hash_) return std::nullopt;
            if (name == "link") shared = text_.substr(at_, hash_);
            if (name == "IEOT" && !is_true_table(size)) return std::nullopt;
            at_ = next;
        }
        return shared.find_first_not_of('\0') == std::string::npos ? "" : shared;
    }

  private:
    struct Start {
        size_t at = 0;
        bool has_prefix = false;  // a part of the path before
    };

    uint64_t take_number(size_t length) {
        uint64_t number = 0;
        for (size_t end = at_ + length; at_ < end; ++at_)
            number = number << 8 | (at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : 0);
        return number;
    }

    // Where each block of entries begins, and how many it has.
    bool is_true_table(size_t size) {
        if (size < 4) return false;
        take_number(4);
        size_t first = 0;
        for (size_t left = (size - 4) / 8; left > 0; --left) {
            const size_t at = take_number(4);
            const bool is_start =
                first < starts_.size() && starts_[first].at == at && !starts_[first].has_prefix;
            if (!is_start) return false;
            first += take_number(4);
        }
        return first == starts_.size();
    }

    // How many bytes of the path before are not part of this one.
    std::optional<size_t> take_offset() {
        size_t value = 0;
        for (bool is_first = true; at_ < text_.size() && value < text_.size(); is_first = false) {
            const auto byte = static_cast<unsigned char>(text_[at_++]);
            if (!is_first) ++value;
            value = value << 7 | (byte & 0x7f);
            if ((byte & 0x80) == 0) return value;
        }
        return std::nullopt;
    }

    // The mode.
    std::optional<uint64_t> take_entry() {
        const size_t begin = at_;
        at_ += kMode;
        const uint64_t mode = take_number(4);
        at_ = begin + kStatus + hash_;
        const uint64_t flags = take_number(2);
        if ((flags & kHasMoreFlags) != 0 && (take_number(2) & ~kKnownFlags) != 0) return std::nullopt;
        size_t kept = 0;
        if (version_ == 4) {
            std::optional<size_t> dropped = take_offset();
            // git ignores the number of the first entry.
            const bool is_first = starts_.size() == 1;
            if (!dropped || (!is_first && *dropped > path_.size())) return std::nullopt;
            if (!is_first) kept = path_.size() - *dropped;
        }
        starts_.back().has_prefix = kept > 0;
        size_t length = flags & kNameLength;
        if (length == kNameLength) length = kept + std::min(text_.find('\0', at_), text_.size()) - at_;
        if (length < kept || at_ + length - kept >= text_.size()) return std::nullopt;
        path_.resize(kept);
        path_ += text_.substr(at_, length - kept);
        at_ += length - kept;
        // A NUL byte, and in older versions up to seven more: then the length is a multiple of eight.
        at_ += version_ == 4 ? 1 : 8 - (at_ - begin) % 8;
        if (at_ > text_.size()) return std::nullopt;
        return mode;
    }

    std::string_view text_;
    size_t hash_, at_ = 0;
    uint64_t version_ = 0;
    std::string path_;  // of the last entry
    std::vector<Start> starts_;
};

}  // namespace

TrackedPaths tracked_among(std::string_view index, const TrackedPaths& wanted) {
    for (const size_t hash : kHashes) {
        TrackedPaths found;
        bool is_read = IndexReader(index, hash).read_entries([&](std::string_view path, uint64_t) {
            if (wanted.contains(path)) found.emplace(path);
        });
        if (is_read) return found;
    }
    return {};
}

std::optional<Gitlinks> gitlinks_in(std::string_view index, ObjectHash hash) {
    Gitlinks links;
    IndexReader reader(index, hash == ObjectHash::sha1 ? kHashes[0] : kHashes[1]);
    bool is_read = reader.read_entries([&](std::string_view path, uint64_t mode) {
        if ((mode & kTypeBits) == kGitlink) links.paths.emplace_back(path);
    });
    std::optional<std::string> shared = is_read ? reader.read_extensions() : std::nullopt;
    if (!shared) return std::nullopt;
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const char letter : *shared) {
        links.shared += kDigits[static_cast<unsigned char>(letter) >> 4];
        links.shared += kDigits[static_cast<unsigned char>(letter) & 0xf];
    }
    return links;
}

std::vector<std::string> tracked_masks(const Plan& plan, const host::Tree& tree) {
    constexpr std::string_view kGit = ".git";
    std::set<base::Path> working_trees;
    for (const std::string& finding : plan.search.findings) {
        const base::Path path = plan.project / finding;
        if (path.name() == kGit) working_trees.insert(path.parent());
    }
    std::map<base::Path, TrackedPaths> wanted;  // by the nearest working tree
    for (const std::string& finding : plan.search.findings) {
        const base::Path path = plan.project / finding;
        if (path.name() == kGit) continue;
        base::Path nearest = path.parent();
        while (nearest.is_strictly_within(plan.project) && !working_trees.contains(nearest))
            nearest = nearest.parent();
        wanted[nearest].emplace(path.relative_to(nearest));
    }
    // The project's own comes first. A jail can plant many repositories with large indexes.
    std::vector<std::string> tracked;
    size_t left = kLargestIndexes;
    int repositories = 0;
    for (const auto& [working_tree, names] : wanted) {
        if (++repositories > kMostRepositories) break;
        std::optional<GitPlaces> git = find_git(tree, working_tree);
        if (!git) continue;
        base::Result<std::string> index = tree.read(git->directory / "index", left);
        if (!index) continue;
        left -= std::min(left, index->size());
        for (const std::string& name : tracked_among(*index, names))
            tracked.emplace_back((working_tree / name).relative_to(plan.project));
    }
    return tracked;
}

}  // namespace plan
