// SPDX-License-Identifier: MIT
#include "diff/patch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "base/file.h"
#include "base/temporary_directory.h"
#include "base/text.h"
#include "diff/lines.h"

namespace {

using diff::BinaryFormat;
using diff::Side;
using testing_support::TemporaryDirectory;

Side file(std::string_view content, uint32_t mode = diff::kFileMode) {
    return {.exists = true, .mode = mode, .content = content};
}

std::string text_patch(std::string_view before, std::string_view after) {
    std::string patch = diff::patch("f", file(before), file(after), BinaryFormat::summary);
    size_t hunk = patch.find("@@");
    return hunk == std::string::npos ? patch : patch.substr(hunk);
}

TEST(Lines, AnUnchangedTextHasNoReplacement) {
    auto lines = diff::lines_of("a\nb\nc");
    EXPECT_EQ(lines.size(), 3u);
    EXPECT_TRUE(diff::compare(lines, lines).empty());
}

TEST(Lines, AnInsertedLineIsOneReplacement) {
    auto found = diff::compare(diff::lines_of("a\nb\n"), diff::lines_of("a\nx\nb\n"));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], (diff::Replacement{1, 1, 1, 2}));
}

// The list of replacements must make the second text from the first.
std::string rebuilt(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
    std::string text;
    size_t at = 0;
    for (const diff::Replacement& one : diff::compare(before, after)) {
        for (; at < one.before_begin; ++at) text += before[at];
        for (size_t i = one.after_begin; i < one.after_end; ++i) text += after[i];
        at = one.before_end;
    }
    for (; at < before.size(); ++at) text += before[at];
    return text;
}

std::string random_text(std::mt19937& random, int lines, int letters) {
    std::string text;
    for (int i = 0; i < lines; ++i)
        text += base::format("line {}\n", random() % static_cast<unsigned>(letters));
    if (random() % 4 == 0) text += "the end";
    return text;
}

TEST(Lines, RandomTextsAreRebuilt) {
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
        std::string before = random_text(random, static_cast<int>(random() % 40), 6);
        std::string after = random_text(random, static_cast<int>(random() % 40), 6);
        EXPECT_EQ(rebuilt(diff::lines_of(before), diff::lines_of(after)), after) << before;
    }
}

TEST(Lines, VeryDifferentTextsAreRebuiltInBoundedTime) {
    std::mt19937 random(8);
    std::string before = random_text(random, 30'000, 1'000'000),
                after = random_text(random, 30'000, 1'000'000);
    EXPECT_EQ(rebuilt(diff::lines_of(before), diff::lines_of(after)), after);
    std::string again = before;
    again.insert(again.size() / 2, after);
    EXPECT_EQ(rebuilt(diff::lines_of(before), diff::lines_of(again)), again);
    // Lines that occur often: the division finds nothing to hold on to.
    std::string few = random_text(random, 5'000, 3), others = random_text(random, 5'000, 3);
    EXPECT_EQ(rebuilt(diff::lines_of(few), diff::lines_of(others)), others);
}

TEST(Lines, ADividedTextKeepsItsUniqueLines) {
    std::string before, after;
    for (int i = 0; i < 5'000; ++i) {
        before += base::format("same {}\nold {}\n", i, i);
        after += base::format("same {}\nnew {}\n", i, i);
    }
    EXPECT_EQ(diff::compare(diff::lines_of(before), diff::lines_of(after)).size(), 5'000u);
}

TEST(Patch, HasThreeLinesOfContext) {
    EXPECT_EQ(text_patch("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n"),
              "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
}

TEST(Patch, StatesAMissingNewline) {
    EXPECT_EQ(text_patch("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST(Patch, OfANewAndOfARemovedFileNamesTheMode) {
    std::string made = diff::patch("x", {}, file("a\n", diff::kProgramMode), BinaryFormat::summary);
    EXPECT_TRUE(made.starts_with("diff --git a/x b/x\nnew file mode 100755\nindex 000")) << made;
    EXPECT_TRUE(made.ends_with("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n")) << made;
    std::string removed = diff::patch("x", file("a\n"), {}, BinaryFormat::summary);
    EXPECT_NE(removed.find("deleted file mode 100644\n"), std::string::npos) << removed;
    EXPECT_TRUE(removed.ends_with("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")) << removed;
}

TEST(Patch, OfAModeAloneHasNoContent) {
    EXPECT_EQ(diff::patch("x", file("a\n"), file("a\n", diff::kProgramMode), BinaryFormat::summary),
              "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n");
    EXPECT_EQ(diff::patch("x", file("a\n"), file("a\n"), BinaryFormat::summary), "");
}

TEST(Patch, OfAFileThatBecomesALinkIsARemovalAndAnAddition) {
    std::string patch = diff::patch("x", file("a\n"), file("target", diff::kLinkMode), BinaryFormat::summary);
    EXPECT_LT(patch.find("deleted file mode 100644"), patch.find("new file mode 120000")) << patch;
}

TEST(Patch, OfABinaryFileHasSizesOrItsContent) {
    const std::string binary("a\0b", 3);
    std::string summary = diff::patch("x", {}, file(binary), BinaryFormat::summary);
    EXPECT_NE(summary.find("Binary files /dev/null and b/x differ (0 and 3 bytes)"), std::string::npos)
        << summary;
    std::string large =
        diff::patch("x", {}, {.exists = true, .size = 5u << 20, .is_too_large = true}, BinaryFormat::literal);
    EXPECT_NE(large.find("(0 and 5242880 bytes)"), std::string::npos) << large;
    EXPECT_TRUE(diff::count_lines({}, file(binary)).is_binary);
}

TEST(Patch, QuotesNamesAsGitDoes) {
    EXPECT_EQ(diff::quoted_name("plain name"), "plain name");
    EXPECT_EQ(diff::quoted_name("a\nb\x1b\"\\"), "\"a\\nb\\033\\\"\\\\\"");
    EXPECT_EQ(diff::quoted_name("\xc3\xbc"), "\"\\303\\274\"");
}

TEST(Patch, CountsLines) {
    diff::Counts counts = diff::count_lines(file("a\nb\nc\n"), file("a\nc\nd\ne\n"));
    EXPECT_EQ(counts.added, 2u);
    EXPECT_EQ(counts.removed, 1u);
}

// ---- git itself reads the patches

struct Content {
    std::string text;
    uint32_t mode = diff::kFileMode;
};

void write_one(const std::string& root, const std::string& name, const Content& content) {
    std::ofstream(root + "/" + name, std::ios::binary) << content.text;
    bool is_program = content.mode == diff::kProgramMode;
    std::filesystem::permissions(root + "/" + name, std::filesystem::perms(is_program ? 0755 : 0644));
}

TEST(Patch, IsAppliedByGit) {
    const std::vector<std::string> names{"plain", "with space",  "quote\"", "new\nline", "\xc3\xbc",
                                         "tab\t", "back\\slash", "-dash",   "$dollar",   "escape\x1b"};
    std::mt19937 random(9);
    auto random_content = [&]() -> Content {
        Content content;
        const unsigned long kind = random() % 5;
        if (kind == 0) {
            for (unsigned i = 0; i < 500 + random() % 90'000; ++i)
                content.text += static_cast<char>(random());
            content.text += '\0';
        } else if (kind > 1) {
            content.text = random_text(random, static_cast<int>(random() % 60), 9);
        }
        if (random() % 4 == 0) content.mode = diff::kProgramMode;
        return content;
    };
    for (int round = 0; round < 12; ++round) {
        TemporaryDirectory directory;
        std::filesystem::create_directory(directory / "tree");
        std::string patch;
        std::map<std::string, Content> expected;
        for (const std::string& name : names) {
            bool exists = random() % 4 != 0, stays = !exists || random() % 5 != 0;
            Content before = random_content(), after = random_content();
            if (exists) write_one(directory / "tree", name, before);
            if (stays) expected[name] = after;
            patch += diff::patch(name, exists ? file(before.text, before.mode) : Side{},
                                 stays ? file(after.text, after.mode) : Side{}, BinaryFormat::literal);
        }
        if (patch.empty()) continue;
        directory.write("patch", patch);
        std::string command = "cd '" + (directory / "tree") + "' && git apply ../patch";
        ASSERT_EQ(std::system(command.c_str()), 0) << patch;
        for (const auto& [name, content] : expected) {
            EXPECT_EQ(*base::read_file(directory / ("tree/" + name)), content.text) << name;
            auto permissions = std::filesystem::status(directory / ("tree/" + name)).permissions();
            bool is_program =
                (permissions & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
            EXPECT_EQ(is_program, content.mode == diff::kProgramMode) << name;
        }
        size_t left =
            static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory / "tree"), {}));
        EXPECT_EQ(left, expected.size());
    }
}

TEST(Patch, OfARenameAndALinkIsAppliedByGit) {
    TemporaryDirectory directory;
    directory.write("tree/a b", "x\n");
    directory.write("tree/gone", "y\n");
    directory.write("patch",
                    diff::rename_patch("a b", "c\nd") +
                        diff::patch("gone", file("y\n"), file("c", diff::kLinkMode), BinaryFormat::literal));
    std::string command = "cd '" + (directory / "tree") + "' && git apply ../patch";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(*base::read_file(directory / "tree/c\nd"), "x\n");
    EXPECT_EQ(std::filesystem::read_symlink(directory / "tree/gone"), "c");
}

}  // namespace
