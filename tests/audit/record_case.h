// SPDX-License-Identifier: MIT
// Records for tests, in a directory of their own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "audit/writer.h"

namespace test {

inline const std::string kSession = "0123456789abcdef0123456789abcdef";

class RecordCase : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/recordXXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string path(unsigned part = 1) const {
        std::string number = part > 1 ? "." + std::to_string(part) : "";
        return directory_ + "/20240229T235959Z-" + kSession + number + ".jsonl";
    }
    base::Fd appending(unsigned part = 1) const {
        return base::Fd(::open(path(part).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    }
    static void put(const std::string& path, const std::string& content) {
        std::ofstream(path, std::ios::binary) << content;
    }
    std::vector<std::string> lines(unsigned part = 1) const {
        std::ifstream file(path(part));
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }
    void put_lines(const std::vector<std::string>& lines, unsigned part = 1) const {
        std::string content;
        for (const std::string& line : lines) content += line + "\n";
        put(path(part), content);
    }

    std::string directory_;
};

}  // namespace test
