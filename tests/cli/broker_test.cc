// SPDX-License-Identifier: MIT
#include "cli/broker.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "config/layer.h"

namespace {

// A home directory with a project, and a source that prints a token.
class BrokerTest : public ::testing::Test {
  protected:
    BrokerTest() {
        char name[] = "/tmp/agent-sandbox-broker-XXXXXX";
        home_ = std::filesystem::canonical(::mkdtemp(name)).string();
        for (const char* place : {"project", "shared", "tools", ".config/agent-sandbox"})
            std::filesystem::create_directories(home_ + "/" + place);
    }
    ~BrokerTest() override { std::filesystem::remove_all(home_); }

    void write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
        ASSERT_TRUE(base::write_file_atomically(home_ + "/" + name, text, mode).ok());
    }
    // A program that leaves a trace of its start.
    void write_source(const std::string& name) const {
        write(name,
              "#!/bin/sh\necho ran >" + home_ +
                  "/trace\necho eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSIsImV4cCI6NDAwMDAwMDAwMH0."
                  "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg\n",
              0700);
    }
    bool has_run() const { return std::filesystem::exists(home_ + "/trace"); }

    base::Result<cli::Planned> launch(const std::string& source, const std::string& path = "/usr/bin:/bin") {
        write(".config/agent-sandbox/config.toml",
              "[credential.tracker]\nhosts = [\"api.example.org\"]\nput = \"bearer\"\n"
              "variable = \"TRACKER_TOKEN\"\nshape = \"jwt\"\nfrom_command = [\"" +
                  source + "\"]\n[credentials]\nuse = [\"tracker\"]\nintercept = \"off\"\n" +
                  "[network]\nmode = \"filtered\"\n[mounts]\nwritable = [\"" + home_ + "/shared\"]\n");
        cli::Caller caller{.environment = {"HOME=" + home_, "PATH=" + path},
                           .working_directory = base::Path::known(home_ + "/project")};
        caller.has_planted_home = true;
        return cli::make_plan(caller, {}, "session", {"true"});
    }

    std::string home_;
};

TEST_F(BrokerTest, ATokensSourceIsOutsideOfAllThatTheJailCanWrite) {
    write_source("shared/token");
    write_source("tools/token");
    auto planned = launch(home_ + "/tools/token");
    ASSERT_TRUE(planned.ok()) << planned.error().line();
    EXPECT_TRUE(has_run()) << "the control";
    const std::string& placeholder = planned->plan.broker.spec.bindings.at(0).placeholder;
    EXPECT_TRUE(placeholder.starts_with("eyJ")) << placeholder;
    std::filesystem::remove(home_ + "/trace");

    auto by_path = launch(home_ + "/shared/token");
    ASSERT_FALSE(by_path.ok());
    EXPECT_NE(by_path.error().line().find("the jail can write"), std::string::npos) << by_path.error().line();
    auto by_name = launch("token", home_ + "/shared:/usr/bin:/bin");
    EXPECT_FALSE(by_name.ok());
    EXPECT_FALSE(has_run());
}

}  // namespace
