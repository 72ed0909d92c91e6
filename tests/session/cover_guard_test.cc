// SPDX-License-Identifier: MIT
#include "session/guard/cover_guard.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"

namespace {

using session::BareName;

BareName name(std::string_view path, bool is_covered, bool may_be_held = false, std::string detail = {}) {
    return {base::Path::known(path), is_covered, may_be_held, std::move(detail)};
}

TEST(UncoveredNames, ArriveAsTheyWereSent) {
    const std::vector<BareName> sent = {name("/p/.env", true), name("/p/a\nb", false, false, "one; two"),
                                        name("/p/.git/config", true, true, "held")};
    std::string bytes;
    for (const BareName& one : sent) bytes += session::encode(one);
    std::vector<BareName> received = session::decode_bare_names(bytes);
    ASSERT_EQ(received.size(), sent.size());
    for (size_t i = 0; i < sent.size(); ++i) {
        EXPECT_EQ(received[i].path, sent[i].path);
        EXPECT_EQ(received[i].is_covered_again, sent[i].is_covered_again);
        EXPECT_EQ(received[i].may_be_held, sent[i].may_be_held);
        EXPECT_EQ(received[i].detail, sent[i].detail);
    }
}

TEST(UncoveredNames, SkipWhatIsNoReport) {
    using std::string_literals::operator""s;
    EXPECT_TRUE(session::decode_bare_names("").empty());
    EXPECT_TRUE(session::decode_bare_names("/p").empty());
    EXPECT_TRUE(session::decode_bare_names("/p\0"
                                           "1\0"
                                           "0"s)
                    .empty());
    EXPECT_TRUE(session::decode_bare_names("relative\0"
                                           "1\0"
                                           "0\0"
                                           "\0"s)
                    .empty());
    EXPECT_TRUE(session::decode_bare_names("\0\0"s).empty());
    const std::string whole = session::encode(name("/p/.env", true));
    EXPECT_EQ(session::decode_bare_names(whole + "/p\0"s).size(), 1u) << "what came before a damaged one";
}

class GitProgramSettingsTest : public testing::Test {
  protected:
    void SetUp() override {
        write("[core]\n\teditor = vi\n");
        programs_.read({{file_, file_, backends::Cover::Kind::readonly}});
    }

    void write(std::string_view text) { std::ofstream(file_.str()) << text; }

    using Keys = std::vector<std::string>;
    testing_support::TemporaryDirectory directory_;
    base::Path file_ = base::Path::known(directory_ / "config");
    session::GitProgramSettings programs_;
};

TEST_F(GitProgramSettingsTest, NameEachNewSettingThatRunsAProgramOnce) {
    EXPECT_EQ(programs_.take_new(file_), Keys{});
    write("[core]\n\teditor = vi\n\tfsmonitor = /tmp/x\n[user]\n\tname = A\n");
    EXPECT_EQ(programs_.take_new(file_), Keys{"core.fsmonitor"});
    EXPECT_EQ(programs_.take_new(file_), Keys{});
}

TEST_F(GitProgramSettingsTest, NameASettingWhoseProgramChanged) {
    write("[core]\n\teditor = /tmp/x\n");
    EXPECT_EQ(programs_.take_new(file_), Keys{"core.editor"});
}

TEST_F(GitProgramSettingsTest, FollowNoLinkAndKnowNoOtherFile) {
    EXPECT_EQ(programs_.take_new(base::Path::known("/p/config")), Keys{});
    std::filesystem::rename(file_.str(), directory_ / "other");
    std::ofstream(directory_ / "other") << "[core]\n\tpager = /tmp/x\n";
    std::filesystem::create_symlink("other", file_.str());
    EXPECT_EQ(programs_.take_new(file_), Keys{});
}

}  // namespace
