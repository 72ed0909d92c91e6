// SPDX-License-Identifier: MIT
#include "config/files/sources.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/encoding/sha256.h"
#include "base/temporary_directory.h"
#include "config/data.h"

namespace {

using config::Places;

// Every test works for any user: the files belong to the caller, who acts as the administrator.
class Sources : public testing::Test {
  protected:
    Sources() {
        places = Places{.admin_directory = directory / "etc",
                        .user_directory = directory / "config",
                        .state_directory = directory / "state",
                        .home = directory.path()};
        project = base::Path::known(directory / "home/project");
        std::filesystem::create_directories(project.str());
    }

    std::string write(std::string_view name, std::string_view content, mode_t mode = 0644) {
        std::string path = directory.write(name, content);
        ::chmod(path.c_str(), mode);
        std::string parent = std::filesystem::path(path).parent_path();
        ::chmod(parent.c_str(), 0755);
        return path;
    }

    auto read_admin() { return config::read_admin_files_owned_by(places, ::getuid()); }

    testing_support::TemporaryDirectory directory;
    Places places;
    base::Path project;
};

constexpr std::string_view kQuiet = "[ui]\nquiet = true\n";

TEST_F(Sources, FollowsXdgAndIgnoresRelativePlaces) {
    base::Path home = base::Path::known("/home/ann");
    Places plain = config::places_for(home, {"PATH=/bin", "XDG_STATE_HOME=state"});
    EXPECT_EQ(plain.user_directory, "/home/ann/.config/agent-sandbox");
    EXPECT_EQ(plain.state_directory, "/home/ann/.local/state/agent-sandbox");
    Places moved = config::places_for(home, {"XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/s/"});
    EXPECT_EQ(moved.user_directory, "/c/agent-sandbox");
    EXPECT_EQ(moved.state_directory, "/s/agent-sandbox");
    EXPECT_EQ(moved.admin_directory, plain.admin_directory);
}

TEST_F(Sources, NothingAnywhereIsNoError) {
    EXPECT_TRUE(read_admin().ok() && read_admin()->empty());
    EXPECT_TRUE(config::read_user_files(places, project)->empty());
    EXPECT_TRUE(config::read_project_file(places, project)->empty());
}

TEST_F(Sources, AdminFilesComeInOrderWithTheirNames) {
    write("etc/conf.d/20-b.toml", kQuiet);
    write("etc/conf.d/10-a.toml", kQuiet);
    write("etc/conf.d/.hidden.toml", "broken");
    write("etc/conf.d/notes.txt", "broken");
    write("etc/config.toml", kQuiet);
    auto files = read_admin();
    ASSERT_TRUE(files.ok()) << files.error().line();
    ASSERT_EQ(files->size(), 3u);
    EXPECT_EQ((*files)[0].file, places.admin_directory + "/config.toml");
    EXPECT_EQ((*files)[1].file, places.admin_directory + "/conf.d/10-a.toml");
    EXPECT_EQ((*files)[2].file, places.admin_directory + "/conf.d/20-b.toml");
    EXPECT_EQ((*files)[0].layer, config::Layer::admin);
}

TEST_F(Sources, AnAdminFileOfAnotherOwnerStopsTheStart) {
    write("etc/config.toml", kQuiet);
    auto files = config::read_admin_files_owned_by(places, ::getuid() + 1);
    ASSERT_FALSE(files.ok());
    EXPECT_NE(files.error().line().find("is owned by uid " + std::to_string(::getuid())), std::string::npos);
    EXPECT_NE(files.error().advice.find("chown"), std::string::npos);
}

TEST_F(Sources, TheProgramBelievesRootAlone) {
    write("etc/config.toml", kQuiet);
    EXPECT_EQ(config::read_admin_files(places).ok(), ::getuid() == 0);
}

TEST_F(Sources, AnAdminFileThatOthersCanWriteStopsTheStart) {
    std::string path = write("etc/config.toml", kQuiet, 0664);
    ASSERT_FALSE(read_admin().ok());
    EXPECT_EQ(read_admin().error().advice, "run 'chmod go-w " + path + "'");
    ::chmod(path.c_str(), 0646);
    EXPECT_FALSE(read_admin().ok());
    ::chmod(path.c_str(), 0644);
    EXPECT_TRUE(read_admin().ok());
}

TEST_F(Sources, AnAdminDirectoryThatOthersCanWriteStopsTheStart) {
    write("etc/conf.d/a.toml", kQuiet);
    for (const std::string& path : {places.admin_directory, places.admin_directory + "/conf.d"}) {
        ::chmod(path.c_str(), 0775);
        EXPECT_FALSE(read_admin().ok()) << path;
        ::chmod(path.c_str(), 0755);
    }
    EXPECT_TRUE(read_admin().ok());
}

TEST_F(Sources, AMalformedAdminFileStopsTheStart) {
    write("etc/config.toml", "[ui]\nquiet = 1\nloud = 1\n");
    auto files = read_admin();
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.error().where, places.admin_directory + "/config.toml:2:9");
    EXPECT_NE(files.error().what.find("(and 1 more"), std::string::npos);
}

TEST_F(Sources, AnUnreadableAdminFileStopsTheStart) {
    std::string path = write("etc/config.toml", kQuiet, 0000);
    // Root can read every file, so root switches to another user here.
    bool is_root = ::getuid() == 0;
    ASSERT_EQ(is_root ? ::seteuid(65534) : 0, 0);
    auto files = read_admin();
    ASSERT_EQ(is_root ? ::seteuid(0) : 0, 0);
    ASSERT_FALSE(files.ok());
    EXPECT_NE(files.error().line().find("Permission denied"), std::string::npos) << files.error().line();
}

TEST_F(Sources, AnAdminLinkIsJudgedByItsTarget) {
    std::string target = write("elsewhere/real.toml", kQuiet);
    std::filesystem::create_directories(places.admin_directory);
    std::filesystem::create_symlink(target, places.admin_directory + "/config.toml");
    EXPECT_TRUE(read_admin().ok());
    ::chmod(target.c_str(), 0666);
    EXPECT_FALSE(read_admin().ok());
    std::filesystem::remove(target);
    auto dangling = read_admin();
    ASSERT_FALSE(dangling.ok());
    EXPECT_NE(dangling.error().advice.find("link to nowhere"), std::string::npos);
}

TEST_F(Sources, AnAdminNameThatIsNoFileStopsTheStart) {
    std::filesystem::create_directories(places.admin_directory + "/config.toml");
    EXPECT_FALSE(read_admin().ok());
    std::filesystem::remove(places.admin_directory + "/config.toml");
    ASSERT_EQ(::mkfifo((places.admin_directory + "/config.toml").c_str(), 0644), 0);
    EXPECT_FALSE(read_admin().ok());
    write("file", "");
    places.admin_directory = directory / "file";
    EXPECT_FALSE(read_admin().ok());
}

TEST_F(Sources, AnEmptyAdminFileIsOneThatIsBeingWritten) {
    write("etc/config.toml", "");
    ASSERT_FALSE(read_admin().ok());
    EXPECT_NE(read_admin().error().what.find("is empty"), std::string::npos);
    write("etc/config.toml", "# nothing yet\n");
    EXPECT_TRUE(read_admin().ok());
    write("config/config.toml", "");
    EXPECT_TRUE(config::read_user_files(places, project).ok()) << "a user's may be";
}

TEST_F(Sources, AnAdminDirectoryThatCantBeListedStopsTheStart) {
    write("etc/conf.d/a.toml", kQuiet);
    std::string parts = places.admin_directory + "/conf.d";
    bool is_root = ::getuid() == 0;
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod(parts.c_str(), is_root ? 0744 : 0400), 0);
    ASSERT_EQ(is_root ? ::seteuid(65534) : 0, 0);
    auto files = read_admin();
    ASSERT_EQ(is_root ? ::seteuid(0) : 0, 0);
    ::chmod(parts.c_str(), 0755);
    ASSERT_FALSE(files.ok()) << "the files in it would be lost";
    EXPECT_NE(files.error().line().find("conf.d"), std::string::npos) << files.error().line();
}

TEST_F(Sources, UserFilesCountOnlyForProjectsThatMatch) {
    write("config/config.toml", kQuiet);
    write("config/conf.d/other.toml", "[match]\nproject = \"/lab/**\"\n");
    write("config/conf.d/this.toml", "[match]\nproject = \"~/home/**\"\n");
    auto files = config::read_user_files(places, project);
    ASSERT_TRUE(files.ok()) << files.error().line();
    ASSERT_EQ(files->size(), 2u);
    EXPECT_TRUE((*files)[1].file.ends_with("this.toml"));
}

TEST_F(Sources, AUserFileMayBeAGroupsButNotEverybodys) {
    std::string path = write("config/config.toml", kQuiet, 0664);
    EXPECT_TRUE(config::read_user_files(places, project).ok());
    ::chmod(path.c_str(), 0666);
    ASSERT_FALSE(config::read_user_files(places, project).ok());
    EXPECT_EQ(config::read_user_files(places, project).error().advice, "run 'chmod o-w " + path + "'");
}

TEST_F(Sources, AProjectFileIsTrustedByItsVeryContent) {
    write("home/project/.agent-sandbox.toml", kQuiet);
    auto files = config::read_project_file(places, project);
    ASSERT_TRUE(files.ok()) << files.error().line();
    ASSERT_EQ(files->size(), 1u);
    EXPECT_EQ(files->front().digest, base::sha256(kQuiet));
    EXPECT_FALSE(files->front().is_trusted);

    ASSERT_TRUE(config::trust(places, project, files->front().digest).ok());
    EXPECT_TRUE(config::read_project_file(places, project)->front().is_trusted);
    write("home/project/.agent-sandbox.toml", "[ui]\nquiet = false\n");
    EXPECT_FALSE(config::read_project_file(places, project)->front().is_trusted);
}

TEST_F(Sources, AProjectFileIsNeverFollowedThroughALink) {
    std::string target = write("real.toml", kQuiet);
    std::filesystem::create_symlink(target, (project / config::kProjectFileName).str());
    auto files = config::read_project_file(places, project);
    ASSERT_FALSE(files.ok());
    EXPECT_NE(files.error().what.find("symbolic link"), std::string::npos);
}

TEST_F(Sources, APlaceholderOfARunningJailIsNoProjectFile) {
    std::filesystem::create_directory((project / config::kProjectFileName).str());
    auto files = config::read_project_file(places, project);
    ASSERT_TRUE(files.ok());
    EXPECT_TRUE(files->empty());
}

TEST_F(Sources, AFifoAsProjectFileNeitherHangsNorCounts) {
    ASSERT_EQ(::mkfifo((project / config::kProjectFileName).c_str(), 0644), 0);
    EXPECT_FALSE(config::read_project_file(places, project).ok());
}

TEST_F(Sources, PresetsAreTheUsersThenTheSitesThenBuiltIn) {
    auto built_in = config::read_preset(places, "review");
    ASSERT_TRUE(built_in.ok()) << built_in.error().line();
    EXPECT_EQ(built_in->values.at("project.read_only").text, "true");
    EXPECT_EQ(built_in->layer, config::Layer::preset);
    write("etc/presets/review.toml", kQuiet);
    EXPECT_TRUE(config::read_preset(places, "review")->values.contains("ui.quiet"));
    write("config/presets/review.toml", "[ui]\nverbose = true\n");
    EXPECT_TRUE(config::read_preset(places, "review")->values.contains("ui.verbose"));
    write("config/presets/mine.toml", kQuiet);
    EXPECT_EQ(config::preset_names(places),
              (std::vector<std::string>{"ci", "mine", "review", "untrusted", "work"}));
}

TEST_F(Sources, APresetNameCantLeaveItsDirectory) {
    write("config/evil.toml", kQuiet);
    for (const char* name : {"../evil", "a/b", "", ".", "no-such"}) {
        auto preset = config::read_preset(places, name);
        ASSERT_FALSE(preset.ok()) << name;
        EXPECT_NE(preset.error().advice.find("review"), std::string::npos);
    }
}

TEST_F(Sources, EveryBuiltInPresetIsReadWithoutProblems) {
    for (const std::string& name : config::preset_names(places)) {
        auto preset = config::read_preset(places, name);
        ASSERT_TRUE(preset.ok()) << preset.error().line();
        EXPECT_FALSE(preset->values.empty()) << name;
    }
}

}  // namespace
