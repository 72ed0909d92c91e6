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
constexpr uint64_t kHasMoreFlags = 0x4000;
// Together: some 40,000 files, read in a millisecond.
constexpr size_t kLargestIndexes = 4u << 20;
constexpr int kMostRepositories = 8;

// An index as gitformat-index(5) describes it.
class IndexReader {
  public:
    IndexReader(std::string_view text, size_t hash) : rest_(text), hash_(hash) {}

    // Nothing: malformed.
    std::optional<TrackedPaths> find(const TrackedPaths& wanted) {
        TrackedPaths found;
        if (!rest_.starts_with(kSignature)) return std::nullopt;
        skip(kSignature.size());
        version_ = take_number(4);
        const uint64_t entries = take_number(4);
        if (version_ < 2 || version_ > 4) return std::nullopt;
        for (uint64_t entry = 0; entry < entries; ++entry) {
            if (!take_entry()) return std::nullopt;
            if (wanted.contains(path_)) found.insert(path_);
        }
        return found;
    }

  private:
    bool skip(size_t length) {
        if (length > rest_.size()) return false;
        rest_.remove_prefix(length);
        return true;
    }

    uint64_t take_number(size_t length) {
        uint64_t number = 0;
        for (size_t at = 0; at < length && at < rest_.size(); ++at)
            number = number << 8 | static_cast<unsigned char>(rest_[at]);
        if (!skip(length)) rest_ = {};
        return number;
    }

    // How many bytes of the path before are not part of this one.
    std::optional<size_t> take_offset() {
        size_t value = 0;
        for (bool is_first = true; !rest_.empty(); is_first = false) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            if (!is_first) ++value;
            value = value << 7 | (byte & 0x7f);
            if (value > path_.size()) return std::nullopt;
            if ((byte & 0x80) == 0) return value;
        }
        return std::nullopt;
    }

    bool take_entry() {
        const size_t before = rest_.size();
        if (!skip(kStatus + hash_) || rest_.size() < 2) return false;
        const bool has_more = (take_number(2) & kHasMoreFlags) != 0;
        if (has_more && !skip(2)) return false;
        if (version_ == 4) {
            std::optional<size_t> dropped = take_offset();
            if (!dropped) return false;
            path_.resize(path_.size() - *dropped);
        } else {
            path_.clear();
        }
        const size_t end = rest_.find('\0');
        if (end == std::string_view::npos) return false;
        path_ += rest_.substr(0, end);
        rest_.remove_prefix(end);
        if (path_.empty()) return false;
        if (version_ == 4) return skip(1);
        // One to eight NUL bytes: the length of an entry is a multiple of eight.
        const size_t padding = 8 - (before - rest_.size()) % 8;
        if (rest_.size() < padding || rest_.find_first_not_of('\0') < padding) return false;
        return skip(padding);
    }

    std::string_view rest_;
    size_t hash_;
    uint64_t version_ = 0;
    std::string path_;  // of the last entry
};

}  // namespace

TrackedPaths tracked_among(std::string_view index, const TrackedPaths& wanted) {
    for (const size_t hash : kHashes) {
        if (std::optional<TrackedPaths> found = IndexReader(index, hash).find(wanted)) return *found;
    }
    return {};
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
