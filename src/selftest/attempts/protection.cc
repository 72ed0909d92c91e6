// SPDX-License-Identifier: MIT
// Paths of the project that make the host run code later: attacked by their name, by another name, and by
// moving a directory above them.
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "selftest/attempt.h"
#include "selftest/catalogue.h"

namespace selftest {
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
        {"git-exchanged", "exchanges .git for another directory", exchange_git},
        {"secret-renamed-aside", "renames the directory of a masked file, for the next session to read",
         move("/service")},
        {"git-attributes", "makes .git/info/attributes", make("/.git/info/attributes")},
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
                          .attempt = row.attempt});
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
