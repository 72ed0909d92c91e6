// SPDX-License-Identifier: MIT
// A project and a state directory for tests that build real jails.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "session/running.h"

namespace testing_support {

class JailTest : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directory(project()); }

    std::string project(const std::string& name = {}) const {
        return directory_ / (name.empty() ? "p" : "p/" + name);
    }

    // Arguments of session_program: its options, then a script for the shell.
    std::vector<std::string> script(const std::string& text, std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {project(), directory_ / "state"});
        options.insert(options.end(), {"--", "/bin/sh", "-c", text});
        return options;
    }
    std::vector<std::string> command(std::vector<std::string> words) const {
        words.insert(words.begin(), {project(), directory_ / "state", "--"});
        return words;
    }

    TemporaryDirectory directory_;
};

}  // namespace testing_support
