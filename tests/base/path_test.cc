// SPDX-License-Identifier: MIT
#include "base/path.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Path, IsNormalisedWhenParsed) {
    EXPECT_EQ(Path::known("/").str(), "/");
    EXPECT_EQ(Path::known("//usr///lib/").str(), "/usr/lib");
    EXPECT_EQ(Path::known("/usr/./lib/.").str(), "/usr/lib");
    EXPECT_EQ(Path::known("/usr/lib/../bin").str(), "/usr/bin");
    EXPECT_EQ(Path::known("/usr/..").str(), "/");
    EXPECT_EQ(Path::known("/a/...").str(), "/a/...") << "three dots are a name";
}

TEST(Path, RefusesWhatIsNotAnAbsolutePath) {
    EXPECT_FALSE(Path::parse(""));
    EXPECT_FALSE(Path::parse("usr/lib"));
    EXPECT_FALSE(Path::parse("~/x"));
    EXPECT_FALSE(Path::parse("/.."));
    EXPECT_FALSE(Path::parse("/a/../../b"));
    EXPECT_FALSE(Path::parse(std::string_view("/a\0b", 4)));
}

TEST(Path, SaysWhyItRefuses) {
    EXPECT_EQ(Path::parse("usr").error().line(), "'usr' is not an absolute path; write it from / or from ~");
}

TEST(Path, KnowsItsParts) {
    Path path = Path::known("/home/ann/code");
    EXPECT_EQ(path.name(), "code");
    EXPECT_EQ(path.parent(), Path::known("/home/ann"));
    EXPECT_EQ(path.depth(), 3u);
    EXPECT_EQ(path.components(), (std::vector<std::string_view>{"home", "ann", "code"}));
}

TEST(Path, RootIsItsOwnParentAndHasNoParts) {
    Path root;
    EXPECT_TRUE(root.is_root());
    EXPECT_EQ(root.parent(), root);
    EXPECT_EQ(root.name(), "");
    EXPECT_EQ(root.depth(), 0u);
    EXPECT_TRUE(root.components().empty());
    EXPECT_EQ(Path::known("/usr").parent(), root);
}

TEST(Path, AppendsRelativePathsAndStopsAtTheRoot) {
    EXPECT_EQ(Path() / "usr", Path::known("/usr"));
    EXPECT_EQ(Path::known("/usr") / "lib/x", Path::known("/usr/lib/x"));
    EXPECT_EQ(Path::known("/usr") / "../etc/./passwd", Path::known("/etc/passwd"));
    EXPECT_EQ(Path::known("/usr") / "../../..", Path());
    EXPECT_EQ(Path::known("/usr") / "", Path::known("/usr"));
    EXPECT_EQ(Path::known("/usr") / "/lib/", Path::known("/usr/lib"));
}

TEST(Path, LiesWithinByComponents) {
    Path foo = Path::known("/foo");
    EXPECT_TRUE(Path::known("/foo/bar").is_within(foo));
    EXPECT_TRUE(foo.is_within(foo));
    EXPECT_FALSE(foo.is_strictly_within(foo));
    EXPECT_TRUE(Path::known("/foo/bar").is_strictly_within(foo));
    EXPECT_FALSE(Path::known("/foobar").is_within(foo));
    EXPECT_FALSE(Path().is_within(foo));
    EXPECT_TRUE(foo.is_within(Path()));
    EXPECT_TRUE(Path().is_within(Path()));
    EXPECT_FALSE(Path().is_strictly_within(Path()));
}

TEST(Path, GivesWhatFollowsAnAncestor) {
    EXPECT_EQ(Path::known("/a/b/c").relative_to(Path::known("/a")), "b/c");
    EXPECT_EQ(Path::known("/a/b").relative_to(Path()), "a/b");
    EXPECT_EQ(Path::known("/a").relative_to(Path::known("/a")), "");
    EXPECT_EQ(Path().relative_to(Path()), "");
}

TEST(Path, EqualPathsHashAlike) {
    EXPECT_EQ(std::hash<Path>()(Path::known("/a//b")), std::hash<Path>()(Path::known("/a/b")));
}

TEST(PathDeathTest, KnownEndsTheProgramOnAnythingElse) {
    EXPECT_DEATH(Path::known("relative"), "");
}

}  // namespace
}  // namespace base
