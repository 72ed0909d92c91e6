// SPDX-License-Identifier: MIT
// Replaces the real program in tests of the session: it makes a plan from its arguments, without any policy,
// and runs it. It is also the inner stage.
//
//   session_program PROJECT STATE [mask PATH | readonly PATH | placeholder PATH | directory PATH | in PATH
//   | mistake PATH | wall-less PATH | network filtered | record required | backend NAME | bwrap PATH]…
//   -- COMMAND…
//
// "mistake" mounts a path writable at /mistake, although the second wall does not list it as writable;
// "wall-less" does the same without the second wall. Without "network" the session has no gateway, without
// "record" it keeps no record. "backend" selects the backend, and "bwrap" another bubblewrap program.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "inner/stage.h"
#include "session/session.h"

namespace {

using base::Path;
using plan::Mount;
using plan::MountKind;

Path own_program() {
    char buffer[4096];
    ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
    return Path::known(std::string_view(buffer, static_cast<size_t>(length)));
}

void add(plan::Plan& plan, MountKind kind, std::string_view target, std::string source = {},
         bool is_pinned = false) {
    plan.mounts.push_back(Mount{
        .kind = kind, .target = Path::known(target), .source = std::move(source), .is_pinned = is_pinned});
}

void add_system(plan::Plan& plan) {
    for (const char* directory : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"}) {
        struct stat status;
        if (::lstat(directory, &status) != 0) continue;
        char link[256] = {};
        if (S_ISLNK(status.st_mode) && ::readlink(directory, link, sizeof link - 1) > 0) {
            add(plan, MountKind::symlink, directory, link);
        } else {
            add(plan, MountKind::bind_readonly, directory, directory);
        }
    }
    add(plan, MountKind::proc, "/proc");
    add(plan, MountKind::dev, "/dev");
    add(plan, MountKind::tmpfs, "/tmp");
    add(plan, MountKind::bind_readonly, base::kOwnProgramPath, own_program().str());
}

// Arguments up to "--"; the rest is the command.
int add_words(plan::Plan& plan, host::Facts& facts, session::RecordSettings& record, int argc, char** argv,
              int i) {
    for (; i + 1 < argc && std::strcmp(argv[i], "--") != 0; i += 2) {
        std::string_view word = argv[i];
        if (word == "network") {
            plan.network.reached = plan.network.egress.rules.mode = policy::NetworkMode::filtered;
            continue;
        }
        if (word == "record") {
            record = {.is_wanted = true, .is_required = true};
            continue;
        }
        if (word == "backend") {
            plan.backend = base::parse_backend(argv[i + 1]).value();
            continue;
        }
        Path path = Path::known(argv[i + 1]);
        if (word == "bwrap") facts.bwrap.path = path;
        if (word == "mask") add(plan, MountKind::empty_file, path.str());
        if (word == "readonly") add(plan, MountKind::bind_readonly, path.str(), path.str(), true);
        if (word == "directory") plan.new_directories.push_back({.path = path});
        if (word == "in") plan.working_directory = path;
        if (word == "mistake" || word == "wall-less")
            add(plan, MountKind::bind_writable, "/mistake", path.str());
        if (word == "wall-less") plan.second_wall.is_wanted = false;
        if (word == "placeholder") {
            plan.placeholders.push_back({.path = path});
            add(plan, MountKind::bind_readonly, path.str(), path.str(), true);
        }
    }
    return i + 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && argv[1] == inner::kRole) return inner::run_stage(argc, argv);
    if (argc < 5) return 2;
    plan::Plan plan;
    plan.project = Path::known(argv[1]);
    plan.working_directory = plan.project;
    add_system(plan);
    add(plan, MountKind::bind_writable, plan.project.str(), plan.project.str(), true);
    plan.second_wall.writable = {plan.project, Path::known("/tmp")};
    plan.second_wall.used = {Path::known("/dev"), Path::known("/proc")};
    plan.network.reached = plan.network.egress.rules.mode = policy::NetworkMode::isolated;
    host::Facts facts;
    facts.bwrap.path = Path::known("/usr/bin/bwrap");
    session::RecordSettings record;
    int first = add_words(plan, facts, record, argc, argv, 3);
    add(plan, MountKind::seal, "/");
    plan.command.assign(argv + first, argv + argc);
    plan.environment.passed = {{.name = "PATH", .value = "/usr/bin:/bin"}, {.name = "TERM", .value = "dumb"}};

    base::Result<session::Ending> ending =
        session::run(plan, facts, {.state_directory = argv[2], .record = record});
    if (!ending) {
        std::fprintf(stderr, "agent-sandbox: %s\n", ending.error().line().c_str());
        return static_cast<int>(ending.error().exit_code);
    }
    if (ending->has_lost_network) std::fprintf(stderr, "agent-sandbox: the network was lost\n");
    if (!ending->reason.empty()) std::fprintf(stderr, "agent-sandbox: %s\n", ending->reason.c_str());
    return session::exit_code_of(*ending);
}
