// SPDX-License-Identifier: MIT
#include "selftest/role.h"

#include <unistd.h>

#include "base/result.h"
#include "selftest/attempts/neighbour.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace

int run_part(int argc, char** argv) {
    std::vector<std::string> words(argv + 2, argv + argc);
    if (!words.empty() && words[0] == "probes") return run_probes(words);
    if (!words.empty() && words[0] == "neighbour") return run_neighbour(words);
    return static_cast<int>(base::ExitCode::usage);
}

void execute_part(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
    std::vector<std::string> arguments = {"agent-sandbox", std::string(kRole)};
    arguments.insert(arguments.end(), words.begin(), words.end());
    ::execve("/proc/self/exe", pointers_to(arguments).data(), pointers_to(environment).data());
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

}  // namespace selftest
