// SPDX-License-Identifier: MIT
#include "config/files/sources.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/encoding/sha256.h"
#include "base/temporary_directory.h"

namespace {

class Trust : public testing::Test {
  protected:
    Trust() { places.state_directory = directory / "state"; }

    std::string record() const { return places.state_directory + "/trust/" + base::sha256(project.str()); }

    testing_support::TemporaryDirectory directory;
    config::Places places;
    base::Path project = base::Path::known("/lab/project");
    std::string digest = base::sha256("content");
};

TEST_F(Trust, IsGivenToOneContentAtOnePlaceAndCanBeTakenBack) {
    EXPECT_FALSE(*config::is_trusted(places, project, digest));
    ASSERT_TRUE(config::trust(places, project, digest).ok());
    EXPECT_TRUE(*config::is_trusted(places, project, digest));
    EXPECT_FALSE(*config::is_trusted(places, project, base::sha256("changed")));
    EXPECT_FALSE(*config::is_trusted(places, base::Path::known("/lab/project2"), digest));
    EXPECT_TRUE(*config::untrust(places, project));
    EXPECT_FALSE(*config::is_trusted(places, project, digest));
    EXPECT_FALSE(*config::untrust(places, project));
}

TEST_F(Trust, ReplacesAnEarlierContent) {
    ASSERT_TRUE(config::trust(places, project, digest).ok());
    ASSERT_TRUE(config::trust(places, project, base::sha256("new")).ok());
    EXPECT_FALSE(*config::is_trusted(places, project, digest));
    EXPECT_TRUE(*config::is_trusted(places, project, base::sha256("new")));
}

TEST_F(Trust, IsKeptWhereNobodyElseCanLook) {
    std::filesystem::create_directories(places.state_directory + "/trust");
    ::chmod((places.state_directory + "/trust").c_str(), 0777);
    ASSERT_TRUE(config::trust(places, project, digest).ok());
    struct stat status;
    ASSERT_EQ(::stat(record().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat((places.state_directory + "/trust").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Trust, RefusesARecordThatOthersCanWrite) {
    ASSERT_TRUE(config::trust(places, project, digest).ok());
    ::chmod(record().c_str(), 0660);
    EXPECT_FALSE(config::is_trusted(places, project, digest).ok());
}

TEST_F(Trust, RefusesARecordBehindALink) {
    ASSERT_TRUE(config::trust(places, project, digest).ok());
    std::filesystem::rename(record(), directory / "moved");
    std::filesystem::create_symlink(directory / "moved", record());
    EXPECT_FALSE(config::is_trusted(places, project, digest).ok());
}

TEST_F(Trust, BelievesNoRecordOfAnotherPath) {
    ASSERT_TRUE(config::trust(places, base::Path::known("/other"), digest).ok());
    std::filesystem::rename(places.state_directory + "/trust/" + base::sha256("/other"), record());
    EXPECT_FALSE(*config::is_trusted(places, project, digest));
}

}  // namespace
