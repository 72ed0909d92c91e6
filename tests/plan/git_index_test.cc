// SPDX-License-Identifier: MIT
#include "plan/project/git_index.h"

#include <gtest/gtest.h>

namespace {

using plan::tracked_among;
using plan::TrackedPaths;

constexpr size_t kSha1 = 20, kSha256 = 32;

std::string number(size_t value, int bytes) {
    std::string text;
    for (int at = bytes - 1; at >= 0; --at) text += static_cast<char>(value >> (8 * at) & 0xff);
    return text;
}

std::string header(size_t version, size_t entries) {
    return "DIRC" + number(version, 4) + number(entries, 4);
}

constexpr size_t kFile = 0100644, kGitlink = 0160000;

std::string status(size_t mode, size_t hash) {
    return std::string(24, 'x') + number(mode, 4) + std::string(12 + hash, 'x');
}

// An entry of version 2, or of version 3 with further flags.
std::string entry(const std::string& path, size_t hash = kSha1, bool has_more = false, size_t mode = kFile) {
    const size_t more = has_more ? 0x4000 : 0;
    std::string text = status(mode, hash) + number(more | std::min<size_t>(path.size(), 0xfff), 2);
    if (has_more) text += number(0, 2);
    text += path;
    return text + std::string(8 - text.size() % 8, '\0');
}

// An entry of version 4: so many bytes of the path before are dropped, and `length` is that of the whole
// path.
std::string entry4(size_t dropped, const std::string& rest, size_t length, size_t mode = kFile) {
    std::string offset = dropped < 0x80 ? number(dropped, 1)
                                        : std::string(1, static_cast<char>(0x80 | ((dropped >> 7) - 1))) +
                                              std::string(1, static_cast<char>(dropped & 0x7f));
    return status(mode, kSha1) + number(std::min<size_t>(length, 0xfff), 2) + offset + rest +
           std::string(1, '\0');
}

const TrackedPaths kWanted = {".env", "conf/.env.local", "a"};

TEST(GitIndex, NamesTheWantedPathsThatItHas) {
    EXPECT_EQ(tracked_among(header(2, 3) + entry(".env") + entry(".env.example") + entry("src/a"), kWanted),
              TrackedPaths{".env"});
    EXPECT_EQ(tracked_among(header(2, 0), kWanted), TrackedPaths{});
    // Every length of the padding.
    for (size_t length = 1; length < 20; ++length)
        EXPECT_EQ(
            tracked_among(header(2, 2) + entry(std::string(length, 'b')) + entry("conf/.env.local"), kWanted),
            TrackedPaths{"conf/.env.local"})
            << length;
}

TEST(GitIndex, OfTheOtherVersionsAndHashes) {
    EXPECT_EQ(tracked_among(header(3, 2) + entry(".env", kSha1, true) + entry("a"), kWanted),
              (TrackedPaths{".env", "a"}));
    EXPECT_EQ(tracked_among(header(2, 2) + entry(".env", kSha256) + entry("b", kSha256), kWanted),
              TrackedPaths{".env"});
    const std::string longer(200, 'c');
    EXPECT_EQ(tracked_among(header(4, 4) + entry4(0, ".env", 4) + entry4(4, longer, 200) +
                                entry4(200, "conf/.env", 9) + entry4(0, ".local", 15),
                            kWanted),
              (TrackedPaths{".env", "conf/.env.local"}));
}

TEST(GitIndex, ThatIsMalformedNamesNothing) {
    const std::string good = header(2, 2) + entry(".env") + entry("a");
    for (size_t length = 0; length < good.size(); ++length)
        EXPECT_EQ(tracked_among(good.substr(0, length), kWanted), TrackedPaths{}) << length;
    EXPECT_EQ(tracked_among(header(5, 1) + entry(".env"), kWanted), TrackedPaths{});
    EXPECT_EQ(tracked_among(header(2, 0xffffffff) + entry(".env"), kWanted), TrackedPaths{});
    EXPECT_EQ(tracked_among(header(4, 2) + entry4(0, "b", 1) + entry4(2, ".env", 4), kWanted),
              TrackedPaths{});
    EXPECT_EQ(tracked_among(header(4, 2) + entry4(0, "conf", 4) + entry4(0, "/.env.local", 3), kWanted),
              TrackedPaths{});
    EXPECT_EQ(tracked_among("XIRC" + good.substr(4), kWanted), TrackedPaths{});
}

// As git does: the number in front of the first name, the bytes behind a name, and bytes from a NUL on.
TEST(GitIndex, WhatGitDoesNotReadDoesNotCount) {
    EXPECT_EQ(tracked_among(header(4, 1) + entry4(7, ".env", 4), kWanted), TrackedPaths{".env"});
    std::string padded = header(2, 2) + entry(".env") + entry("a");
    padded[12 + 72 - 1] = 'x';
    EXPECT_EQ(tracked_among(padded, kWanted), (TrackedPaths{".env", "a"}));
    EXPECT_EQ(tracked_among(header(2, 1) + entry(std::string(".env\0x", 6)), kWanted), TrackedPaths{".env"});
}

std::string links(const std::string& index, plan::ObjectHash hash = plan::ObjectHash::sha1) {
    std::optional<plan::Gitlinks> found = plan::gitlinks_in(index, hash);
    if (!found) return "unreadable";
    std::string all;
    for (const std::string& path : found->paths) all += path + "|";
    return all + found->shared;
}

std::string extension(const std::string& name, const std::string& data) {
    return name + number(data.size(), 4) + data;
}

const std::string kChecksum(kSha1, 'c');

TEST(GitIndex, GitlinksOfEachVersion) {
    const std::string link = entry("sub", kSha1, false, kGitlink), file = entry("a");
    EXPECT_EQ(links(header(2, 2) + file + link + kChecksum), "sub|");
    EXPECT_EQ(links(header(3, 2) + entry("a", kSha1, true) + link + kChecksum), "sub|");
    EXPECT_EQ(links(header(4, 3) + entry4(0, "lib/a", 5) + entry4(1, "b", 5, kGitlink) +
                    entry4(0, "/c", 7, kGitlink) + kChecksum),
              "lib/b|lib/b/c|");
    EXPECT_EQ(links(header(2, 1) + entry("sub", kSha256, false, kGitlink) + std::string(kSha256, 'c'),
                    plan::ObjectHash::sha256),
              "sub|");
    EXPECT_EQ(links(header(2, 1) + link + extension("TREE", "x") + kChecksum), "sub|");
    EXPECT_EQ(links(header(2, 1) + link), "unreadable");
    EXPECT_EQ(links(header(2, 2) + link + kChecksum), "unreadable");
    EXPECT_EQ(links("DIRC"), "unreadable");
}

TEST(GitIndex, ASharedIndexIsNamed) {
    const std::string bitmaps(16, '\0'), none(kSha1, '\0');
    EXPECT_EQ(links(header(2, 0) + extension("link", std::string(kSha1, '\xa5') + bitmaps) + kChecksum),
              "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5");
    EXPECT_EQ(links(header(2, 0) + extension("link", none + bitmaps) + kChecksum), "");
    EXPECT_EQ(links(header(2, 0) + extension("link", "x") + kChecksum), "unreadable");
}

// Threat: git's threads begin where a table leads them (tests/jail/review_git.bats).
TEST(GitIndex, ATableThatLeadsElsewhereIsNotRead) {
    const std::string start = header(2, 2) + entry("a") + entry("b");
    const size_t second = start.size() - entry("b").size();
    auto table = [](std::vector<std::pair<size_t, size_t>> blocks) {
        std::string data = number(1, 4);
        for (const auto& [at, count] : blocks) data += number(at, 4) + number(count, 4);
        return extension("IEOT", data);
    };
    auto with_end = [&](size_t end) { return extension("EOIE", number(end, 4) + std::string(kSha1, 'h')); };
    const std::string good = table({{12, 1}, {second, 1}});
    EXPECT_EQ(links(start + good + with_end(start.size()) + kChecksum), "");
    EXPECT_EQ(links(start + table({{12, 2}}) + kChecksum), "");
    EXPECT_EQ(links(start + good + with_end(start.size() + 8) + kChecksum), "unreadable");
    EXPECT_EQ(links(start + table({{12, 1}, {second + 8, 1}}) + kChecksum), "unreadable");
    EXPECT_EQ(links(start + table({{12, 1}}) + kChecksum), "unreadable");
    // In version 4 a block begins with a whole name.
    const std::string first = entry4(0, "lib/a", 5);
    const std::string pair = header(4, 2) + first + entry4(1, "b", 5);
    EXPECT_EQ(links(pair + table({{12, 1}, {12 + first.size(), 1}}) + kChecksum), "unreadable");
    // An extension that covers the place where git looks for the end.
    EXPECT_EQ(links(start + extension("FSMN", good + with_end(start.size() + 8)) + kChecksum), "unreadable");
}

}  // namespace
