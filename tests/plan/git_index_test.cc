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

// An entry of version 2, or of version 3 with further flags.
std::string entry(const std::string& path, size_t hash = kSha1, bool has_more = false) {
    const size_t more = has_more ? 0x4000 : 0;
    std::string text = std::string(40 + hash, 'x') + number(more | std::min<size_t>(path.size(), 0xfff), 2);
    if (has_more) text += number(0, 2);
    text += path;
    return text + std::string(8 - text.size() % 8, '\0');
}

// An entry of version 4: so many bytes of the path before are dropped.
std::string entry4(size_t dropped, const std::string& rest) {
    std::string offset = dropped < 0x80 ? number(dropped, 1)
                                        : std::string(1, static_cast<char>(0x80 | ((dropped >> 7) - 1))) +
                                              std::string(1, static_cast<char>(dropped & 0x7f));
    return std::string(60, 'x') + number(rest.size(), 2) + offset + rest + std::string(1, '\0');
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
    EXPECT_EQ(tracked_among(header(4, 4) + entry4(0, ".env") + entry4(4, longer) + entry4(200, "conf/.env") +
                                entry4(0, ".local"),
                            kWanted),
              (TrackedPaths{".env", "conf/.env.local"}));
}

TEST(GitIndex, ThatIsMalformedNamesNothing) {
    const std::string good = header(2, 2) + entry(".env") + entry("a");
    for (size_t length = 0; length < good.size(); ++length)
        EXPECT_EQ(tracked_among(good.substr(0, length), kWanted), TrackedPaths{}) << length;
    EXPECT_EQ(tracked_among(header(5, 1) + entry(".env"), kWanted), TrackedPaths{});
    EXPECT_EQ(tracked_among(header(2, 0xffffffff) + entry(".env"), kWanted), TrackedPaths{});
    EXPECT_EQ(tracked_among(header(4, 1) + entry4(1, ".env"), kWanted), TrackedPaths{});
    EXPECT_EQ(tracked_among("XIRC" + good.substr(4), kWanted), TrackedPaths{});
}

}  // namespace
