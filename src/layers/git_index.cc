// SPDX-License-Identifier: MIT
// The format is in gitformat-index(5): a head of 12 bytes, then entries of 62 bytes with a name, padded with
// NUL to a multiple of eight bytes, then extensions, then a hash of 20 bytes. An extension whose name begins
// with a capital letter only speeds git up. Any other changes what the entries mean: with "link" some of them
// are in another file.
#include "layers/git_index.h"

#include <algorithm>
#include <cstdint>

namespace layers {
namespace {

constexpr size_t kHead = 12, kStatistics = 40, kMode = 24, kObject = 20, kFlags = 2;
constexpr size_t kModeSize = 4;  // in an entry of staged_entries()
constexpr uint16_t kExtended = 0x4000;

uint32_t number_at(std::string_view text, size_t at, size_t size) {
    uint32_t number = 0;
    for (size_t i = 0; i < size; ++i) number = number << 8 | static_cast<unsigned char>(text[at + i]);
    return number;
}

// Whether the entries alone list the files: no extension from here on changes their meaning.
bool has_only_optional_extensions(std::string_view index, size_t at) {
    constexpr size_t kName = 4, kLength = 4, kHash = 20;
    while (index.size() - at > kHash) {
        if (index.size() - at < kName + kLength + kHash) return false;
        if (index[at] < 'A' || index[at] > 'Z') return false;
        const size_t length = number_at(index, at + kName, kLength);
        if (index.size() - at - kName - kLength - kHash < length) return false;
        at += kName + kLength + length;
    }
    return index.size() - at == kHash;
}

// One of staged_entries().
struct IndexEntry {
    std::string_view object, path;
    uint32_t flags = 0;
};

template <typename Visit>
void for_each_entry(std::string_view entries, Visit visit) {
    constexpr size_t kFixed = kModeSize + kObject + kFlags;
    while (entries.size() > kFixed) {
        const uint32_t flags = number_at(entries, kModeSize + kObject, kFlags);
        const size_t name = kFixed + ((flags & kExtended) != 0 ? 2 : 0);
        const size_t end = std::min(entries.find('\0', name), entries.size() - 1);
        visit(IndexEntry{.object = entries.substr(kModeSize, kObject),
                         .path = entries.substr(name, end - name),
                         .flags = flags});
        entries.remove_prefix(end + 1);
    }
}

}  // namespace

std::optional<std::string> staged_entries(std::string_view index) {
    if (index.size() < kHead || !index.starts_with("DIRC")) return std::nullopt;
    const uint32_t version = number_at(index, 4, 4), count = number_at(index, 8, 4);
    if (version != 2 && version != 3) return std::nullopt;
    std::string entries;
    size_t at = kHead;
    for (uint32_t i = 0; i < count; ++i) {
        constexpr size_t kFixed = kStatistics + kObject + kFlags;
        if (index.size() - at < kFixed) return std::nullopt;
        const uint32_t flags = number_at(index, at + kStatistics + kObject, kFlags);
        const size_t fixed = kFixed + ((flags & kExtended) != 0 ? 2 : 0);
        const size_t end = index.find('\0', at + fixed);
        if (end == std::string_view::npos) return std::nullopt;
        entries += index.substr(at + kMode, kModeSize);
        entries += index.substr(at + kStatistics, end + 1 - at - kStatistics);
        const size_t length = (end - at + 8) / 8 * 8;
        if (index.size() - at < length) return std::nullopt;
        at += length;
    }
    if (!has_only_optional_extensions(index, at)) return std::nullopt;
    return entries;
}

std::optional<std::set<std::string>> paths_in(std::string_view index) {
    const std::optional<std::string> entries = staged_entries(index);
    if (!entries) return std::nullopt;
    std::set<std::string> paths;
    for_each_entry(*entries, [&](const IndexEntry& entry) { paths.emplace(entry.path); });
    return paths;
}

std::optional<std::string> object_of(std::string_view index, std::string_view path) {
    constexpr uint32_t kStages = 0x3000;
    const std::optional<std::string> entries = staged_entries(index);
    if (!entries) return std::nullopt;
    std::optional<std::string> object;
    for_each_entry(*entries, [&](const IndexEntry& entry) {
        if (entry.path != path || (entry.flags & kStages) != 0) return;
        constexpr std::string_view kDigits = "0123456789abcdef";
        object.emplace();
        for (char byte : entry.object) {
            *object += kDigits[static_cast<unsigned char>(byte) >> 4];
            *object += kDigits[static_cast<unsigned char>(byte) & 15];
        }
    });
    return object;
}

bool have_same_entries(std::string_view first, std::string_view second) {
    if (first == second) return true;
    std::optional<std::string> one = staged_entries(first), other = staged_entries(second);
    return one && other && *one == *other;
}

}  // namespace layers
