// SPDX-License-Identifier: MIT
#include "host/facts.h"

#include <limits.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/inside/jail_files.h"
#include "base/text.h"

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

namespace {

constexpr ProgramState kProgramStates[] = {ProgramState::usable, ProgramState::missing,
                                           ProgramState::untrusted, ProgramState::not_executable};
constexpr NamespaceObstacle kObstacles[] = {
    NamespaceObstacle::none, NamespaceObstacle::not_built_in, NamespaceObstacle::limit_is_zero,
    NamespaceObstacle::clone_is_restricted, NamespaceObstacle::apparmor};

// Reads members into fields of a struct and keeps the first error.
class Reader {
  public:
    void path(const base::Json& json, std::string_view key, base::Path& place) {
        if (!json.find(key)) return;
        base::Result<base::Path> parsed = base::Path::parse(json.text(key));
        if (!parsed) return fail(key, parsed.error().what);
        place = *std::move(parsed);
    }

    void number(const base::Json& json, std::string_view key, uint32_t& place) {
        int64_t value = json.number(key, place);
        if (value < 0 || value > UINT32_MAX) return fail(key, std::to_string(value) + " is out of range");
        place = static_cast<uint32_t>(value);
    }

    template <typename Word, size_t kCount>
    void word(const base::Json& json, std::string_view key, const Word (&words)[kCount], Word& place) {
        if (!json.find(key)) return;
        std::string text = json.text(key);
        for (Word candidate : words) {
            if (to_text(candidate) != text) continue;
            place = candidate;
            return;
        }
        fail(key, base::format("'{}' is not a known word", text));
    }

    const std::optional<base::Error>& problem() const { return problem_; }

  private:
    void fail(std::string_view key, const std::string& what) {
        if (!problem_) problem_ = base::Error{.what = base::format("facts: {}: {}", key, what)};
    }
    std::optional<base::Error> problem_;
};

base::Json or_null(const std::optional<std::string>& text) {
    return text ? base::Json(*text) : base::Json();
}

base::Json to_json(const Identity& identity) {
    base::Json json = base::Json::object();
    json.set("uid", static_cast<int64_t>(identity.uid)).set("gid", static_cast<int64_t>(identity.gid));
    json.set("user", identity.user).set("group", identity.group);
    json.set("shell", identity.shell).set("home", identity.home.str());
    return json;
}

base::Json to_json(const TrustedProgram& bwrap) {
    base::Json json = base::Json::object();
    json.set("state", to_text(bwrap.state)).set("path", bwrap.path.str());
    json.set("is_setuid", bwrap.is_setuid).set("problem", bwrap.problem);
    return json;
}

Identity read_identity(Reader& reader, const base::Json& json) {
    Identity identity{.user = json.text("user"), .group = json.text("group"), .shell = json.text("shell")};
    reader.number(json, "uid", identity.uid);
    reader.number(json, "gid", identity.gid);
    reader.path(json, "home", identity.home);
    return identity;
}

TrustedProgram read_program(Reader& reader, const base::Json& json) {
    TrustedProgram bwrap{.is_setuid = json.truth("is_setuid"), .problem = json.text("problem")};
    reader.word(json, "state", kProgramStates, bwrap.state);
    reader.path(json, "path", bwrap.path);
    return bwrap;
}

void read_optional(const base::Json& json, std::string_view key, std::optional<std::string>& place) {
    const base::Json* member = json.find(key);
    if (member && member->as_text()) place = *member->as_text();
}

void read_details(Reader& reader, const base::Json& json, Facts& facts) {
    facts.os_name = json.text("os_name");
    reader.word(json, "namespace_obstacle", kObstacles, facts.namespace_obstacle);
    read_optional(json, "user_namespace_obstacle", facts.user_namespace_obstacle);
    read_optional(json, "native_obstacle", facts.native_obstacle);
    facts.apparmor_restricts_user_namespaces = json.truth("apparmor_restricts_user_namespaces");
    facts.apparmor_profile_for_bwrap = json.truth("apparmor_profile_for_bwrap");
    if (const base::Json* bwrap = json.find("bwrap")) facts.bwrap = read_program(reader, *bwrap);
    if (const base::Json* firejail = json.find("firejail")) facts.firejail = read_program(reader, *firejail);
    facts.landlock_abi = static_cast<int>(json.number("landlock_abi"));
    facts.can_answer_calls = json.truth("can_answer_calls");
    facts.answers_obstacle = json.text("answers_obstacle");
    facts.lsm_list = json.text("lsm_list");
    facts.ptrace_scope = static_cast<int>(json.number("ptrace_scope"));
    facts.has_seccomp = json.truth("has_seccomp", true);
    facts.has_cgroup_namespace = json.truth("has_cgroup_namespace", true);
    for (const base::Json& device : json.items("gpu_devices")) {
        if (const std::string* path = device.as_text()) facts.gpu_devices.push_back(*path);
    }
}

}  // namespace

base::Json to_json(const Facts& facts) {
    base::Json slurm = base::Json::object();
    slurm.set("id", facts.slurm_job.id).set("node", facts.slurm_job.node);
    base::Json devices = base::Json::array();
    for (const std::string& device : facts.gpu_devices) devices.push(device);

    base::Json json = base::Json::object();
    json.set("identity", to_json(facts.identity));
    json.set("kernel", facts.kernel).set("machine", facts.machine);
    json.set("bwrap", to_json(facts.bwrap)).set("firejail", to_json(facts.firejail));
    json.set("slurm_job", std::move(slurm));
    json.set("nested_in", facts.nested_in).set("own_program", facts.own_program.str());
    base::Json private_etc = base::Json::array();
    for (const base::Path& path : facts.private_etc) private_etc.push(path.str());
    json.set("private_etc", std::move(private_etc));
    json.set("os_name", facts.os_name);
    json.set("namespace_obstacle", to_text(facts.namespace_obstacle));
    json.set("user_namespace_obstacle", or_null(facts.user_namespace_obstacle));
    json.set("native_obstacle", or_null(facts.native_obstacle));
    json.set("apparmor_restricts_user_namespaces", facts.apparmor_restricts_user_namespaces);
    json.set("apparmor_profile_for_bwrap", facts.apparmor_profile_for_bwrap);
    json.set("landlock_abi", facts.landlock_abi).set("can_answer_calls", facts.can_answer_calls);
    json.set("answers_obstacle", facts.answers_obstacle);
    json.set("lsm_list", facts.lsm_list).set("ptrace_scope", facts.ptrace_scope);
    json.set("has_seccomp", facts.has_seccomp).set("has_cgroup_namespace", facts.has_cgroup_namespace);
    json.set("gpu_devices", std::move(devices));
    return json;
}

base::Result<Facts> facts_from_json(const base::Json& json) {
    if (!json.is_object()) return base::Error{.what = "facts: not a JSON object"};
    const base::Json absent;
    auto part = [&](std::string_view key) -> const base::Json& {
        return json.find(key) ? *json.find(key) : absent;
    };

    Reader reader;
    Facts facts{.identity = read_identity(reader, part("identity")),
                .kernel = json.text("kernel"),
                .machine = json.text("machine"),
                .slurm_job = {.id = part("slurm_job").text("id"), .node = part("slurm_job").text("node")},
                .nested_in = json.text("nested_in")};
    reader.path(json, "own_program", facts.own_program);
    for (const base::Json& item : json.items("private_etc")) {
        base::Result<base::Path> path = base::Path::parse(item.as_text() ? *item.as_text() : "");
        if (!path) return path.error();
        facts.private_etc.push_back(*std::move(path));
    }
    read_details(reader, json, facts);
    if (reader.problem()) return *reader.problem();
    return facts;
}

}  // namespace host
