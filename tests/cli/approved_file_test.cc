// SPDX-License-Identifier: MIT
// The file of approvals (cli/sessions/approved_file.h), as the next start reads it.
#include "cli/sessions/approved_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "config/files/sources.h"

namespace cli {
namespace {

class ApprovedFile : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-approved.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        root_ = pattern;
        places_.user_directory = root_ + "/config";
        places_.home = root_;
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    base::Result<std::string> add(std::string_view key, std::string text,
                                  std::string project = "/p/app") const {
        return add_approved(places_, base::Path::known(project), {key, std::move(text)});
    }
    // What a start in the project reads.
    std::vector<std::string> entries(const std::string& key, const std::string& project = "/p/app") const {
        std::vector<std::string> texts;
        auto layers = config::read_user_files(places_, base::Path::known(project));
        EXPECT_TRUE(layers) << layers.error().line();
        for (const config::LayerFile& layer : *layers) {
            auto found = layer.values.find(key);
            if (found == layer.values.end()) continue;
            for (const config::Item& item : found->second.items) texts.push_back(item.text);
        }
        return texts;
    }
    std::string file() const {
        for (const auto& entry : std::filesystem::directory_iterator(root_ + "/config/conf.d"))
            return entry.path();
        return {};
    }

    std::string root_;
    config::Places places_;
};

TEST_F(ApprovedFile, HasEachEntryOnceAndForItsProjectAlone) {
    ASSERT_TRUE(add("mounts.approved", "/data/a"));
    ASSERT_TRUE(add("mounts.approved", "/data/a"));
    base::Result<std::string> place = add("env.allow", "NAME");
    ASSERT_TRUE(place) << place.error().line();
    ASSERT_TRUE(add("mounts.approved", "/data/b"));
    EXPECT_EQ(entries("mounts.approved"), (std::vector<std::string>{"/data/a", "/data/b"}));
    EXPECT_EQ(entries("env.allow"), std::vector<std::string>{"NAME"});
    EXPECT_TRUE(entries("mounts.approved", "/p/other").empty());
    EXPECT_TRUE(place->starts_with(file() + ":")) << *place;
    struct stat status;
    ASSERT_EQ(::stat(file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

// Threat: an entry ends the text that holds it, and the rest is another setting.
TEST_F(ApprovedFile, TakesATextForATextAlone) {
    const std::string odd = "/data/a\"]\nhidden = []\n[network]\nmode = \"open\" #\\";
    const std::string quoted = "/data/\"b\\c'";
    (void)add("mounts.approved", odd);
    ASSERT_TRUE(add("mounts.approved", quoted));
    EXPECT_EQ(entries("mounts.approved").back(), quoted);
    EXPECT_TRUE(entries("network.mode").empty());
    auto layers = config::read_user_files(places_, base::Path::known("/p/app"));
    ASSERT_TRUE(layers);
    for (const config::LayerFile& layer : *layers) EXPECT_EQ(layer.values.size(), 1u);
}

TEST_F(ApprovedFile, LeavesWhatAPersonWroteAndNeverFollowsALink) {
    ASSERT_TRUE(add("mounts.approved", "/data/a"));
    const std::string path = file();
    const std::string mine = *base::read_file(path) + "\n[ui]\nquiet = true\n";
    ASSERT_TRUE(base::write_file_atomically(path, mine));
    EXPECT_FALSE(add("mounts.approved", "/data/b"));
    EXPECT_EQ(*base::read_file(path), mine);
    ASSERT_TRUE(base::write_file_atomically(path, "not TOML ="));
    EXPECT_FALSE(add("mounts.approved", "/data/b"));
    std::filesystem::rename(path, root_ + "/elsewhere");
    std::filesystem::create_symlink(root_ + "/elsewhere", path);
    EXPECT_FALSE(add("mounts.approved", "/data/b"));
    EXPECT_EQ(*base::read_file(root_ + "/elsewhere"), "not TOML =");
}

TEST_F(ApprovedFile, IsNotWrittenForAProjectWhosePathIsAPattern) {
    EXPECT_FALSE(add("mounts.approved", "/data/a", "/p/a*"));
    EXPECT_FALSE(std::filesystem::exists(root_ + "/config"));
}

}  // namespace
}  // namespace cli
