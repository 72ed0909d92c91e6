// SPDX-License-Identifier: MIT
#include "host/facts.h"

#include <limits.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/inside/paths_inside.h"

namespace host {
namespace {

constexpr std::string_view kContainerMarks[] = {"/.dockerenv", "/run/.dockerenv", "/run/.containerenv"};

base::Result<base::Path> find_own_program() {
    char text[PATH_MAX];
    ssize_t length = ::readlink("/proc/self/exe", text, sizeof text);
    if (length <= 0) {
        base::Error error = base::system_error("find this program through /proc/self/exe", errno);
        error.advice = "/proc must be mounted";
        return error;
    }
    std::string_view path(text, static_cast<size_t>(length));
    if (path.ends_with(" (deleted)") && ::access(std::string(path).c_str(), F_OK) != 0) {
        return base::Error{
            .what = "this program's own file has been removed or replaced since it was started",
            .advice = "start it again"};
    }
    return base::Path::parse(path);
}

// Only the kernel can decide about a set-group-ID bwrap, an access list or a noexec mount.
void check_permission(TrustedProgram& bwrap) {
    if (bwrap.state != ProgramState::usable || ::access(bwrap.path.c_str(), X_OK) == 0) return;
    bwrap.state = ProgramState::not_executable;
    bwrap.problem =
        bwrap.path.str() + " may not be executed by you; ask the administrator for permission to run it";
}

bool is_in_jail(const Tree& tree, const Variables& environment) {
    base::Result<base::Path> place =
        base::Path::parse(variable(environment, base::kPlaceVariable).value_or(base::kOwnDirectory));
    return place && tree.look(*place);
}

}  // namespace

std::string probe_nesting(const Tree& tree, const Variables& environment) {
    bool is_marked = variable(environment, "AGENT_SANDBOX") == "1";
    if (is_marked && is_in_jail(tree, environment)) return "agent-sandbox";
    bool is_container = !variable(environment, "container").value_or("").empty() ||
                        std::ranges::any_of(kContainerMarks, [&](std::string_view mark) {
                            return tree.look(base::Path::known(mark)).has_value();
                        });
    return is_container ? "container" : "";
}

void probe_bwrap(const Tree& tree, const std::optional<base::Path>& pinned, Facts& facts) {
    facts.bwrap = find_bwrap(tree, pinned);
    check_permission(facts.bwrap);
}

// The system call itself, because glibc walks the whole tree where the kernel returns "(unreachable)".
base::Result<base::Path> find_working_directory() {
    char text[PATH_MAX];
    long length = ::syscall(SYS_getcwd, text, sizeof text);
    if (length > 0 && text[0] == '/') return base::Path::parse(text);
    std::string problem = length > 0        ? "it lies outside the visible file system"
                          : errno == ENOENT ? "it has been removed"
                                            : base::system_error("read it", errno).what;
    return base::Error{.what = "cannot tell the current directory: " + problem,
                       .advice = "change to a directory that exists and try again"};
}

base::Result<Facts> probe(const Tree& tree, const Variables& environment, Identity identity) {
    base::Result<base::Path> own_program = find_own_program();
    if (!own_program) return own_program.error();
    utsname system;
    if (::uname(&system) != 0) return base::system_error("ask the kernel for its name", errno);

    Facts facts{.identity = std::move(identity), .kernel = system.release, .machine = system.machine};
    probe_namespaces(tree, facts);
    probe_landlock(facts);
    probe_calls(facts);
    facts.slurm_job.id = variable(environment, "SLURM_JOB_ID").value_or("");
    facts.slurm_job.node = variable(environment, "SLURMD_NODENAME").value_or("");
    facts.nested_in = probe_nesting(tree, environment);
    facts.own_program = *std::move(own_program);
    return facts;
}

base::Result<Facts> probe(const Tree& tree, const Variables& environment) {
    base::Result<Identity> identity = probe_identity(tree, ::getuid(), ::getgid(), environment);
    if (!identity) return identity.error();
    return probe(tree, environment, *std::move(identity));
}

base::Result<Facts> probe(const Variables& environment) {
    return probe(DiskTree(), environment);
}

}  // namespace host
