// SPDX-License-Identifier: MIT
// Theory of operation. systemd-logind keeps the processes of a login in a cgroup:
//
//   session-N.scope      ended at logout with KillUserProcesses=yes, except for the users that it names
//   user@UID.service     of a desktop, and of `systemd-run --user`; ended after the last logout of a user who
//                        does not linger
//   elsewhere            not ended
#include "session/detached/logout.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/text.h"

namespace session {
namespace {

constexpr char kConfiguration[] = "/etc/systemd/logind.conf";
constexpr const char* kDropIns[] = {"/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d",
                                    "/etc/systemd/logind.conf.d"};
constexpr char kLingering[] = "/var/lib/systemd/linger/";

// Empty if it can't be read.
std::string text_of(const std::string& path) {
    base::Result<std::string> text = base::read_file(path);
    return text ? *std::move(text) : std::string();
}

// The last value that is written, or the default.
std::string value_of(const LogoutFacts& facts, std::string_view key, std::string_view otherwise) {
    std::string value(otherwise);
    for (const std::string& text : facts.configuration) {
        for (std::string_view line : base::split(text, '\n')) {
            const size_t equals = line.find('=');
            if (equals != std::string_view::npos && base::trim(line.substr(0, equals)) == key)
                value = std::string(base::trim(line.substr(equals + 1)));
        }
    }
    return value;
}

bool names(const std::string& list, std::string_view user) {
    const std::vector<std::string_view> words = base::split(list, ' ');
    return std::ranges::count(words, user) > 0;
}

bool kills_processes(const LogoutFacts& facts) {
    constexpr std::string_view kYes[] = {"yes", "true", "on", "1"};
    const std::string only = value_of(facts, "KillOnlyUsers", "");
    return std::ranges::count(kYes, value_of(facts, "KillUserProcesses", "no")) > 0 &&
           !names(value_of(facts, "KillExcludeUsers", "root"), facts.user) &&
           (only.empty() || names(only, facts.user));
}

// systemd's own hierarchy: the only one of cgroup v2, or the named one of v1.
std::string_view cgroup_of(const LogoutFacts& facts) {
    for (std::string_view line : base::split(facts.cgroups, '\n')) {
        const size_t v1 = line.find(":name=systemd:");
        if (v1 != std::string_view::npos) return line.substr(v1 + std::string_view(":name=systemd:").size());
        if (line.starts_with("0::")) return line.substr(3);
    }
    return {};
}

}  // namespace

LogoutFacts read_logout_facts(const std::string& user) {
    LogoutFacts facts{.user = user};
    facts.cgroups = text_of("/proc/self/cgroup");
    facts.configuration.push_back(text_of(kConfiguration));
    for (const char* directory : kDropIns) {
        std::vector<std::string> paths;
        std::error_code failed;
        for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
            if (entry.path().extension() == ".conf") paths.push_back(entry.path().string());
        }
        std::ranges::sort(paths);
        for (const std::string& path : paths) facts.configuration.push_back(text_of(path));
    }
    facts.lingers = base::file_exists(kLingering + user);
    return facts;
}

std::string reason_for_end_at_logout(const LogoutFacts& facts) {
    const std::string_view cgroup = cgroup_of(facts);
    constexpr std::string_view kInUserService = "/user@";
    if (cgroup.find(kInUserService) != std::string_view::npos)
        return facts.lingers ? "" : "your account does not linger; 'loginctl enable-linger' changes that";
    const bool is_of_login = cgroup.find("/session-") != std::string_view::npos;
    if (!is_of_login || !kills_processes(facts)) return {};
    return "logind.conf has KillUserProcesses=yes; 'loginctl enable-linger', and then 'systemd-run --user "
           "--scope agent-sandbox --detach COMMAND', let it go on";
}

}  // namespace session
