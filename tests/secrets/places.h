// SPDX-License-Identifier: MIT
// A directory for one test, and sources in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/path.h"
#include "secrets/outside.h"

namespace test {

class Places : public ::testing::Test {
  protected:
    Places() {
        char name[] = "/tmp/agent-sandbox-secrets-XXXXXX";
        root_ = std::filesystem::canonical(::mkdtemp(name)).string();
        surroundings_ = {.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root_},
                         .home = base::Path::known(root_),
                         .store = root_ + "/state/secrets"};
    }
    ~Places() override { std::filesystem::remove_all(root_); }

    std::string file(const std::string& name, std::string_view text, mode_t mode = 0600) const {
        std::string path = root_ + "/" + name;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        EXPECT_TRUE(base::write_file_atomically(path, text, mode).ok());
        ::chmod(path.c_str(), mode);
        return path;
    }

    void make_writable(const std::string& name) {
        std::filesystem::create_directories(root_ + "/" + name);
        surroundings_.writable.push_back(base::Path::known(root_ + "/" + name));
    }

    std::string root_;
    secrets::Surroundings surroundings_;
};

}  // namespace test
