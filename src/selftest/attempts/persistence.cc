// SPDX-License-Identifier: MIT
// Files that run later and processes that remain after the jail has ended, checked from outside.
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "selftest/planted/planted.h"
#include "selftest/runner.h"

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
    {"sandbox-config", kSandboxConfig, "settings of the sandbox"},
    {"sandbox-trust", kSandboxTrust, "what the sandbox trusts"},
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
             .planted = place.path,
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

// Names that no placeholder holds if the user has no tool for them: they are moved away at the end.
void add_new_names(Probes& probes) {
    struct Row {
        std::string_view name, path;
    };
    constexpr Row kRows[] = {{"new-direnv", "/.envrc"}, {"new-agent-servers", "/.mcp.json"}};
    for (const Row& row : kRows) {
        auto path_in = [path = std::string(row.path)](const World& world) { return world.project + path; };
        probes.push_back(
            {.name = "persistence/" + std::string(row.name),
             .what = base::format("leaves {} in the project", row.path.substr(1)),
             .attempt = [path_in](const World& world) { return leave_mark(world, path_in(world)); },
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
    add_new_names(probes);
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

// Paths of the project that make the host run code later: attacked by their name, by another name, and by
// moving a directory above them.

namespace {

constexpr std::string_view kHook = "/.git/hooks/pre-commit";
constexpr std::string_view kConfig = "/.git/config";

std::string hook_of(const World& world) {
    return world.project + std::string(kHook);
}

Attempt append(std::string_view path) {
    return [path](const World& world) { return append_to(world.project + std::string(path)); };
}
Attempt make(std::string_view path) {
    return [path](const World& world) { return create(world.project + std::string(path)); };
}
Attempt move(std::string_view path) {
    return [path](const World& world) {
        return rename_away(world.project + std::string(path), world.project + "/aside");
    };
}

Finding replace_config(const World& world) {
    std::string config = world.project + std::string(kConfig), fresh = world.project + "/fresh";
    if (!base::write_file_atomically(fresh, "# planted\n")) return held(errno);
    Finding finding = outcome(::rename(fresh.c_str(), config.c_str()), "it was replaced");
    ::unlink(fresh.c_str());
    return finding;
}

Finding remove_hook(const World& world) {
    if (::unlink(hook_of(world).c_str()) != 0) return held(errno);
    (void)base::write_file_atomically(hook_of(world), "# planted\n");
    return escaped("it was removed");
}

Finding write_by_hard_link(const World& world) {
    std::string link = world.project + "/hook-link";
    if (::link(hook_of(world).c_str(), link.c_str()) != 0) return held(errno);
    Finding finding = append_to(link);
    ::unlink(link.c_str());
    return finding;
}

Finding write_by_link(const World& world) {
    std::string link = world.project + "/hook-link";
    if (::symlink(hook_of(world).c_str(), link.c_str()) != 0) return held(errno);
    Finding finding = append_to(link);
    ::unlink(link.c_str());
    return finding;
}

Finding write_by_reopening(const World& world) {
    base::Fd fd(::open(hook_of(world).c_str(), O_RDONLY | O_CLOEXEC));
    return fd ? append_to("/proc/self/fd/" + std::to_string(fd.get())) : held(errno);
}

Finding write_by_own_root(const World& world) {
    return append_to("/proc/self/root" + hook_of(world));
}

Finding write_by_mapping(const World& world) {
    base::Fd fd(::open(hook_of(world).c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) return held(errno);
    void* place = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    return place == MAP_FAILED ? held(errno) : escaped("it was mapped for writing");
}

Finding make_executable(const World& world) {
    return outcome(::chmod(hook_of(world).c_str(), 0700), "its mode was changed");
}

Finding truncate_hook(const World& world) {
    return outcome(::truncate(hook_of(world).c_str(), 10), "it was cut off");
}

Finding exchange_git(const World& world) {
    std::string git = world.project + "/.git", other = world.project + "/other-git";
    ::mkdir(other.c_str(), 0700);
    long exchanged = ::renameat2(AT_FDCWD, git.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    int error = errno;
    if (exchanged == 0) ::renameat2(AT_FDCWD, git.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    ::rmdir(other.c_str());
    errno = error;
    return outcome(exchanged, "they changed places");
}

// Inside, an empty directory is the placeholder. Outside there is no placeholder, so the control creates it
// first.
Finding remove_placeholder(const World& world) {
    std::string path = world.project + "/.vscode";
    if (!world.is_inside) ::mkdir(path.c_str(), 0700);
    return outcome(::rmdir(path.c_str()), "the name is free");
}

Finding open_placeholder(const World& world) {
    std::string path = world.project + "/.idea";
    if (!world.is_inside) ::mkdir(path.c_str(), 0700);
    long changed = ::chmod(path.c_str(), 0777);
    int error = errno;
    if (!world.is_inside) ::rmdir(path.c_str());
    errno = error;
    return outcome(changed, "its mode was changed");
}

Finding link_over_name(const World& world) {
    std::string path = world.project + "/.envrc";
    if (::symlink("/dev/null", path.c_str()) != 0) return held(errno);
    ::unlink(path.c_str());
    return escaped("a link was made");
}

}  // namespace

void add_protection(Probes& probes) {
    struct Row {
        std::string_view name;
        std::string_view what;
        Attempt attempt;
        std::string_view excuse = {};
    };
    const Row kRows[] = {
        {"git-config", "writes .git/config", append(kConfig)},
        {"git-config-replaced", "renames another file over .git/config", replace_config},
        {"git-hook", "writes an existing git hook", append(kHook)},
        {"git-hook-new", "makes a new git hook", make("/.git/hooks/post-commit")},
        {"git-hook-removed", "removes a git hook", remove_hook},
        {"git-hook-by-hard-link", "writes a git hook through a hard link", write_by_hard_link},
        {"git-hook-by-link", "writes a git hook through a symbolic link", write_by_link},
        {"git-hook-by-reopening", "writes a git hook through /proc/self/fd", write_by_reopening},
        {"git-hook-by-own-root", "writes a git hook through /proc/self/root", write_by_own_root},
        {"git-hook-by-mapping", "maps a git hook for writing", write_by_mapping},
        {"git-hook-mode", "makes a git hook executable", make_executable},
        {"git-hook-truncated", "cuts a git hook off", truncate_hook},
        {"git-renamed", "renames .git to make another", move("/.git")},
        {"git-hooks-renamed", "renames .git/hooks to make another", move("/.git/hooks")},
        {"git-exchanged", "exchanges .git for another directory", exchange_git,
         "this file system can't exchange names (NFS)"},
        {"secret-renamed-aside", "renames the directory of a masked file, for the next session to read",
         move("/service")},
        {"git-attributes", "makes .git/info/attributes", make("/.git/info/attributes")},
    };
    // Whatever tools this user has.
    const Row kHeld[] = {
        {"direnv", "makes .envrc", make("/.envrc")},
        {"direnv-link", "makes .envrc as a symbolic link", link_over_name},
        {"editor-tasks", "makes .vscode/tasks.json", make("/.vscode/tasks.json")},
        {"editor-project", "makes .idea/workspace.xml", make("/.idea/workspace.xml")},
        {"container-definition", "makes .devcontainer/devcontainer.json",
         make("/.devcontainer/devcontainer.json")},
        {"agent-servers", "makes .mcp.json", make("/.mcp.json")},
        {"agent-settings", "makes .claude/settings.json", make("/.claude/settings.json")},
        {"sandbox-settings", "makes .agent-sandbox.toml", make("/.agent-sandbox.toml")},
        {"placeholder-removed", "removes the directory that holds a protected name", remove_placeholder},
        {"placeholder-mode", "opens the directory that holds a protected name", open_placeholder},
    };
    for (const Row& row : kRows) {
        probes.push_back({.name = "persistence/" + std::string(row.name),
                          .what = std::string(row.what),
                          .attempt = row.attempt,
                          .excuse = row.excuse});
    }
    for (const Row& row : kHeld) {
        probes.push_back({.name = "persistence/" + std::string(row.name),
                          .what = std::string(row.what),
                          .attempt = row.attempt,
                          .scenario = Scenario::held});
    }
    const Row kReview[] = {
        {"review-create", "makes a file in a project that is for reading", make("/planted")},
        {"review-write", "writes a file of a project that is for reading", append("/src/main.c")},
        {"review-rename", "renames a file of a project that is for reading", move("/src/main.c")},
        {"review-git", "writes to the repository of a project that is for reading", append("/.git/HEAD")},
    };
    for (const Row& row : kReview) {
        probes.push_back({.name = "persistence/" + std::string(row.name),
                          .what = std::string(row.what),
                          .attempt = row.attempt,
                          .scenario = Scenario::read_only});
    }
}

}  // namespace selftest
