// SPDX-License-Identifier: MIT
#include "cli/verbs/agent_stub.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/result.h"
#include "base/text.h"
#include "config/profile.h"
#include "plan/agent/known_agents.h"

namespace cli {
namespace {

bool is_this_program(const struct stat& status) {
    struct stat own;
    return ::stat("/proc/self/exe", &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino;
}

// The profile of this agent in the session, as far as the stub needs it; nothing: it has none.
std::optional<config::Profile> profile_in_force(const std::string& name) {
    base::Result<std::string> text = base::read_file(base::own_path(base::kOwnSandboxes));
    if (!text) return std::nullopt;
    config::Profile profile;
    for (std::string_view line : base::split(*text, '\n')) {
        std::vector<std::string_view> fields = base::split(line, '\t');
        if (fields.size() != 3 || fields[0] != name) continue;
        profile.name = fields[0];
        profile.title = fields[1];
        profile.own_sandbox.push_back({.text = std::string(fields[2])});
    }
    if (profile.name.empty()) return std::nullopt;
    return profile;
}

}  // namespace

std::string program_behind_stub(std::string_view name) {
    const char* path = std::getenv("PATH");
    for (std::string_view directory : base::split(path ? path : "", ':')) {
        std::string file = base::format("{}/{}", directory.empty() ? "." : directory, name);
        struct stat status;
        bool is_program = ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                          ::access(file.c_str(), X_OK) == 0;
        if (is_program && !is_this_program(status)) return file;
    }
    return {};
}

std::optional<std::string> agent_stub_name(std::string_view executed, std::string_view first_word) {
    for (std::string_view word : {executed, first_word}) {
        std::string_view name = base::base_name(word);
        if (std::ranges::find(plan::known_agents(), name, &plan::KnownAgent::name) !=
            plan::known_agents().end())
            return std::string(name);
    }
    return std::nullopt;
}

std::string agent_stub_text(std::string_view name) {
    return base::format(
        "agent-sandbox: {} has no profile in this session, so its log-in and settings are absent; start the "
        "session with --agent {}, or set agents.use = [\"{}\"]\n",
        name, name, name);
}

std::string own_sandbox_text(const config::Profile& profile, std::string_view option) {
    return base::format(
        "agent-sandbox: {}: {} switches on the sandbox of {}, which can't start in the jail; leave the "
        "option "
        "out: the jail is the sandbox\n",
        profile.name, base::printable(option), profile.title);
}

int run_agent_stub(const std::string& name, char** arguments) {
    std::string program = program_behind_stub(name);
    if (program.empty()) {
        std::fputs(base::format("{}: command not found\n", name).c_str(), stderr);
        return static_cast<int>(base::ExitCode::not_found);
    }
    if (std::optional<config::Profile> profile = profile_in_force(name)) {
        std::vector<std::string> words;
        for (char** word = arguments; *word != nullptr; ++word) words.emplace_back(*word);
        if (std::optional<std::string> option = config::own_sandbox_option(*profile, words)) {
            std::fputs(own_sandbox_text(*profile, *option).c_str(), stderr);
            return static_cast<int>(base::ExitCode::refused_by_policy);
        }
    } else {
        std::fputs(agent_stub_text(name).c_str(), stderr);
        std::fflush(stderr);
    }
    ::execv(program.c_str(), arguments);
    std::fputs(base::format("{}: {}\n", program, base::system_error("execute it", errno).what).c_str(),
               stderr);
    return static_cast<int>(base::ExitCode::not_executable);
}

}  // namespace cli
