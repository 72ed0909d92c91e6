// SPDX-License-Identifier: MIT
#include "slurm/scope/identity.h"

#include <gtest/gtest.h>

namespace slurm {
namespace {

const std::string kSession(32, 'a');

Tag our_tag() {
    return make_tag(kSession, base::Path::known("/lab/project"));
}

TEST(Tag, SaysSessionAndProject) {
    Tag tag = our_tag();
    EXPECT_EQ(tag.session, kSession);
    EXPECT_TRUE(is_tag_part(tag.project));
    EXPECT_NE(tag.project, project_part(base::Path::known("/lab/project2")));
    EXPECT_EQ(text_of(tag), "agent-sandbox:1:" + kSession + ":" + tag.project);
}

TEST(Tag, StandsBehindTheUsersText) {
    EXPECT_EQ(*append_tag("my run", our_tag()), "my run " + text_of(our_tag()));
    EXPECT_EQ(*append_tag("", our_tag()), text_of(our_tag()));
    for (std::string_view text : {"", "my run", " ", "a\nb\n", "trailing ", "\xff\x01|;'\""}) {
        SplitComment split = split_comment(*append_tag(text, our_tag()));
        EXPECT_EQ(split.user_part, text);
        EXPECT_EQ(split.tag, our_tag());
    }
}

TEST(Tag, OfTheAgentsOwnWritingIsText) {
    Tag forged{.session = std::string(32, 'b'), .project = std::string(32, 'c')};
    SplitComment split = split_comment(*append_tag("x " + text_of(forged), our_tag()));
    EXPECT_EQ(split.tag, our_tag());
    EXPECT_EQ(split.user_part, "x " + text_of(forged));
}

TEST(Tag, IsStrict) {
    std::string text = text_of(our_tag());
    EXPECT_TRUE(split_comment(text).tag);
    EXPECT_FALSE(split_comment("x" + text).tag);
    EXPECT_FALSE(split_comment(text + " ").tag);
    EXPECT_FALSE(split_comment(text + "\n").tag);
    EXPECT_FALSE(split_comment(text.substr(1)).tag);
    EXPECT_FALSE(split_comment(text.substr(0, text.size() - 1)).tag);
    std::string upper = text;
    upper.replace(upper.find(kSession), 1, "A");
    EXPECT_FALSE(split_comment(upper).tag);
    std::string version = text;
    version.replace(version.find(":1:"), 3, ":2:");
    EXPECT_FALSE(split_comment(version).tag);
}

TEST(Tag, FitsIntoWhatSlurmTakes) {
    size_t room = kMaximumComment - text_of(our_tag()).size() - 1;
    EXPECT_EQ(append_tag(std::string(room, 'x'), our_tag())->size(), kMaximumComment);
    auto longer = append_tag(std::string(room + 1, 'x'), our_tag());
    ASSERT_FALSE(longer.ok());
    EXPECT_NE(longer.error().line().find(std::to_string(room)), std::string::npos);
}

TEST(Tag, IsTakenOutOfAnyText) {
    std::string tag = text_of(our_tag());
    EXPECT_EQ(without_tags("a|my run " + tag + "|b\n" + tag + "|c"), "a|my run|b\n|c");
    EXPECT_EQ(without_tags("agent-sandbox:1:short"), "agent-sandbox:1:short");
    EXPECT_EQ(without_tags(tag.substr(0, 60)), tag.substr(0, 60));
    EXPECT_EQ(without_tags("agent-sandbox:1:" + tag), "agent-sandbox:1:");
}

// A tag within a tag: after the inner one is removed, the rest is the outer one.
TEST(Tag, IsTakenOutThoughAnotherStandsInIt) {
    std::string tag = text_of(our_tag());
    for (size_t at : {1u, 16u, 40u}) {
        EXPECT_EQ(without_tags(tag.substr(0, at) + tag + tag.substr(at)), "") << at;
        EXPECT_EQ(without_tags("x " + tag.substr(0, at) + tag.substr(0, at) + tag + tag.substr(at) +
                               tag.substr(at)),
                  "x")
            << at;
    }
}

}  // namespace
}  // namespace slurm
