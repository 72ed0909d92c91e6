// SPDX-License-Identifier: MIT
// Where a test finds its files and the programs that it starts. It looks for them when it runs: a path that
// is compiled in would give each checkout its own objects, and an object cache would never hit.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace test {

// A path below the folder of the running test program: "session_program".
inline std::string beside(std::string_view name) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

// A path below tests/ of the checkout in which the build folder lies: data("/golden/hosts").
inline std::string data(std::string_view name = "") {
    static const std::string kTests = [] {
        for (std::filesystem::path folder = beside(""); folder.has_relative_path();
             folder = folder.parent_path())
            if (std::filesystem::exists(folder / "tests/base/places.h")) return (folder / "tests").string();
        throw std::runtime_error("this test program lies in no checkout of agent-sandbox");
    }();
    return kTests + std::string(name);
}

}  // namespace test
