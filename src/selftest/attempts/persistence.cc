// SPDX-License-Identifier: MIT
// Files that run later and processes that remain after the jail has ended, checked from outside.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "base/format.h"
#include "base/process/descriptors.h"
#include "selftest/attempt.h"
#include "selftest/catalogue.h"
#include "selftest/planted/planted.h"

namespace selftest {
namespace {

constexpr unsigned kLongestDaemon = 10;  // seconds; it must not outlive the self-test by much

std::string mark_of(const World& world) {
    return base::format("# planted by a probe: {}\n", world.secret);
}

// Appends a mark to a file; creates the file if it is missing.
Finding leave_mark(const World& world, const std::string& path) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    std::string mark = mark_of(world);
    if (!fd || ::write(fd.get(), mark.data(), mark.size()) < 0) return held(errno);
    return held("written inside");
}

Finding look_for_mark(const World& world, const std::string& path) {
    bool is_there = content_of(path).find(mark_of(world)) != std::string::npos;
    return is_there ? escaped("it is on the host") : held("nothing on the host");
}

struct StartUpPlace {
    std::string_view name;
    std::string_view path;
    std::string_view what;
};

constexpr StartUpPlace kHomePlaces[] = {
    {"shell-start", ".bashrc", "what every shell runs"},
    {"login", ".profile", "what every login runs"},
    {"zsh-start", ".zshenv", "what every zsh runs"},
    {"git-settings", ".config/git/config", "programs that git runs"},
    {"ssh-login", ".ssh/authorized_keys", "who may log in"},
    {"user-service", ".config/systemd/user/planted.service", "a service of the user"},
    {"desktop-start", ".config/autostart/planted.desktop", "a program that the desktop starts"},
    {"own-programs", ".local/bin/ls", "a program that is found first"},
    {"sandbox-config", ".config/agent-sandbox/config.toml", "settings of the sandbox"},
    {"sandbox-trust", ".local/state/agent-sandbox/trust", "what the sandbox trusts"},
};

void add_home_places(Probes& probes) {
    auto add = [&](const StartUpPlace& place, Scenario scenario, const std::string& suffix) {
        auto path_in = [path = "/" + std::string(place.path)](const World& world) {
            return world.home + path;
        };
        probes.push_back(
            {.name = base::format("persistence/home-{}{}", place.name, suffix),
             .what = base::format("plants ~/{}: {}", place.path, place.what),
             .attempt = [path_in](const World& world) { return leave_mark(world, path_in(world)); },
             .scenario = scenario,
             .afterwards = [path_in](const World& world) { return look_for_mark(world, path_in(world)); }});
    };
    for (const StartUpPlace& place : kHomePlaces) {
        add(place, Scenario::standard, "");
        add(place, Scenario::home_read, "-shown");
        // These stay closed even if the home directory is writable.
        add(place, Scenario::home_write, "-writable");
    }
}

void add_outside_places(Probes& probes) {
    struct Row {
        std::string_view name, directory, permitted_by;
    };
    constexpr Row kRows[] = {
        {"temporary", "/tmp", "isolation.private_tmp=false"},
        {"kept-temporary", "/var/tmp", "isolation.private_tmp=false"},
        {"shared-memory", "/dev/shm", "isolation.private_ipc=false"},
    };
    for (const Row& row : kRows) {
        auto path_in = [directory = std::string(row.directory)](const World& world) {
            return directory + "/agent-sandbox-selftest-" + world.secret;
        };
        probes.push_back(
            {.name = base::format("persistence/{}-file", row.name),
             .what = "leaves a file in the host's " + std::string(row.directory),
             .attempt = [path_in](const World& world) { return leave_mark(world, path_in(world)); },
             .excuse = "this host has no such place",
             .permitted_by = row.permitted_by,
             .afterwards =
                 [path_in](const World& world) {
                     Finding finding = look_for_mark(world, path_in(world));
                     ::unlink(path_in(world).c_str());
                     return finding;
                 }});
    }
}

// ---- A process that remains

std::string lock_of(const World& world) {
    return world.project + "/daemon.lock";
}

[[noreturn]] void be_daemon(const World& world) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    base::close_others({});
    ::alarm(kLongestDaemon);
    int fd = ::open(lock_of(world).c_str(), O_RDWR | O_CREAT, 0600);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    ::fcntl(fd, F_SETLK, &lock);
    (void)!::write(fd, "!", 1);
    for (;;) ::pause();
}

Finding leave_daemon(const World& world) {
    if (::fork() == 0) be_daemon(world);
    // Wait until the daemon holds its lock and has written to the file.
    while (content_of(lock_of(world)).empty()) ::usleep(1000);
    return held("started");
}

// F_GETLK returns the holder's process ID, as seen from this PID namespace.
Finding look_for_daemon(const World& world) {
    base::Fd fd(::open(lock_of(world).c_str(), O_RDWR | O_CLOEXEC));
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    if (!fd || ::fcntl(fd.get(), F_GETLK, &lock) != 0)
        return {Finding::Kind::broken, "its lock can't be seen"};
    ::unlink(lock_of(world).c_str());
    if (lock.l_type == F_UNLCK) return held("ended with the jail");
    if (lock.l_pid > 0) ::kill(lock.l_pid, SIGKILL);
    return escaped("it is still running");
}

// Every probe removes what it made, so every entry that was not planted comes from the jail.
Finding look_for_ghosts(const World& world) {
    std::vector<std::string> planted = project_entries();
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(world.project, error), end;
         !error && entry != end; entry.increment(error)) {
        std::string name = entry->path().lexically_relative(world.project).string();
        if (std::ranges::find(planted, name) == planted.end()) return escaped("left behind: " + name);
    }
    return held("nothing left behind");
}

}  // namespace

void add_persistence(Probes& probes) {
    add_home_places(probes);
    add_outside_places(probes);
    probes.push_back({.name = "persistence/daemon",
                      .what = "leaves a process behind that goes on",
                      .attempt = leave_daemon,
                      .afterwards = look_for_daemon});
    probes.push_back({.name = "persistence/ghost-files",
                      .what = "looks for placeholders that the jail left in the project",
                      .attempt =
                          [](const World& world) {
                              // The control simulates a sandbox that leaves one behind.
                              if (!world.is_inside) ::mkdir((world.project + "/.codex").c_str(), 0700);
                              return held("looked for afterwards");
                          },
                      .afterwards = look_for_ghosts});
}

}  // namespace selftest
