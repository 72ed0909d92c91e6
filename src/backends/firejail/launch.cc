// SPDX-License-Identifier: MIT
// Theory of operation. firejail is set-user-ID, so executing it clears PDEATHSIG. The jail still ends with
// the supervisor: the inner stage sees its socket close, kills all processes in the pid namespace and exits.
// Then firejail's pid 1 has no child left to wait for. If firejail's own process outside is killed, the
// kernel ends its pid 1 too, and the namespace with it.
//
// firejail installs its own handlers for SIGINT and SIGTERM, and would end the jail when one is sent to the
// caller's process group: so it gets its own group.
#include "backends/firejail/launch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/firejail/render.h"
#include "base/file.h"
#include "base/text.h"
#include "inner/stage.h"

namespace backends::firejail {
namespace {

// firejail closes every descriptor above 2 that --keep-fd does not name.
std::string kept_descriptors(const Inheritance& inheritance) {
    std::vector<std::string> numbers;
    for (int number : inheritance.numbers()) numbers.push_back(std::to_string(number));
    return "--keep-fd=" + base::join(numbers, ",");
}

// firejail takes the home directory from the account database, and can't follow links in its path.
base::Result<Host> describe_host(const host::Tree& tree, const host::Facts& facts) {
    const host::Identity& identity = facts.identity;
    base::Result<host::Tree::Resolved> home = tree.resolve(identity.home);
    if (!home) return home.error();
    std::optional<base::Path> known = host::account_home(tree, identity.uid);
    bool is_known = home->path == identity.home && (!known || *known == home->path);
    if (!is_known) {
        return base::Error{.what = base::format("firejail takes {} for the home directory, and it is {}",
                                                base::printable((known ? *known : identity.home).str()),
                                                base::printable(home->path.str())),
                           .advice =
                               "use another backend; for a self-test: agent-sandbox selftest "
                               "--in-home, in an account made for it"};
    }
    return Host{.tree = tree, .home = home->path, .user = identity.uid, .program = facts.own_program};
}

// The network namespace is empty, and no process outside can set it up: the doorman passes connections one by
// one. In a traced jail the tracer answers the calls.
doorman::AnsweredCalls doorman_of(const plan::Plan& plan, const host::Facts& facts, const Caller& caller) {
    if (caller.answers.is_wanted) return caller.answers;
    bool is_handed = plan.network.egress.needs_gateway();
    bool is_refused = plan.network.abstract_sockets == plan::AbstractSockets::refused;
    // A session without a terminal may get one with `exec`. A listener for that alone is not worth its cost.
    bool may_have_terminal = caller.terminal >= 0 || is_handed || is_refused;
    bool has_terminal = may_have_terminal && facts.can_answer_calls && !plan.trace.is_wanted();
    using doorman::AbstractNames, doorman::Internet;
    return {.is_wanted = is_handed || is_refused || has_terminal,
            .internet = is_handed ? Internet::handed : Internet::host,
            .owns_loopback = is_handed,
            .host_ports = network::loopback_ports(plan.network.egress),
            .gateway = caller.handoff,
            .abstract_names = is_refused ? AbstractNames::refused : AbstractNames::shared,
            .guards_terminal_size = has_terminal,
            .refuses_namespaces = facts.can_answer_calls && !plan.trace.is_wanted() &&
                                  !plan.system_calls.allow_nested_namespaces};
}

std::vector<inner::WrittenFile> files_by_stage(const host::Tree& tree, const View& view) {
    constexpr size_t kLargest = 1u << 20;
    std::vector<inner::WrittenFile> files;
    for (const base::Path& file : view.copied) {
        if (base::Result<std::string> content = tree.read(file, kLargest))
            files.push_back({.path = file.str(), .content = *std::move(content)});
    }
    for (const Link& link : view.links)
        files.push_back({.path = link.path.str(), .content = link.target, .is_link = true});
    return files;
}

std::vector<std::string> command_line(const Rendered& rendered, const Inheritance& inheritance, int profile,
                                      const host::Facts& facts) {
    std::vector<std::string> words = {"firejail"};
    words.insert(words.end(), rendered.options.begin(), rendered.options.end());
    words.push_back(kept_descriptors(inheritance));
    words.push_back("--profile=/proc/self/fd/" + std::to_string(profile));
    words.insert(words.end(), rendered.late_options.begin(), rendered.late_options.end());
    // Without "--": after it firejail would start a shell.
    words.push_back(facts.own_program.str());
    words.emplace_back(inner::kRole);
    words.push_back(std::to_string(inheritance.spec.get()));
    return words;
}

[[noreturn]] void become_firejail(const std::string& program, const Inheritance& inheritance,
                                  const std::vector<std::string>& words, const Caller& caller, pid_t parent) {
    prepare_child(inheritance, caller, parent);
    ::setpgid(0, 0);
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    const char* no_environment[] = {nullptr};
    ::execve(program.c_str(), pointers.data(), const_cast<char* const*>(no_environment));
    give_up("execute " + program);
}

}  // namespace

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller) {
    if (base::Status known = knows_options(facts.firejail.path.str()); !known) return known.error();
    // A new tree, so that it contains what was made for this launch.
    host::DiskTree tree;
    base::Result<Host> host = describe_host(tree, facts);
    if (!host) return host.error();
    base::Result<View> view = make_view(plan, *host);
    if (!view) return view.error();
    base::Result<Rendered> rendered = render(plan, *view);
    if (!rendered) return rendered.error();

    Launched launched;
    Inheritance inheritance;
    if (base::Status opened = open_channels(plan, caller, inheritance, launched); !opened)
        return opened.error();
    inner::LaunchSpec spec = launch_spec_of(plan, caller, inheritance);
    spec.ends_others = true;
    spec.files = files_by_stage(tree, *view);
    spec.doorman = doorman_of(plan, facts, caller);
    base::Result<std::vector<inner::Check>> checks = make_checks(plan, *view);
    if (!checks) return checks.error();
    spec.checks = *std::move(checks);
    if (base::Status written = write_launch_spec(spec, inheritance); !written) return written.error();
    base::Result<base::Fd> profile = base::memory_file("profile", rendered->profile);
    if (!profile) return profile.error();
    int number = profile->get();
    inheritance.others.push_back(*std::move(profile));

    std::vector<std::string> words = command_line(*rendered, inheritance, number, facts);
    pid_t parent = ::getpid();
    launched.process = ::fork();
    if (launched.process < 0) return base::system_error("start firejail", errno);
    if (launched.process == 0) become_firejail(facts.firejail.path.str(), inheritance, words, caller, parent);
    return launched;
}

namespace {

// The newest ones; the oldest firejail that is still in use has all others.
constexpr std::string_view kNeeded[] = {"--keep-fd=", "--noinput", "--ipc-namespace", "--tab"};

base::Error too_old(std::string_view option) {
    return base::Error{.what = "this firejail does not know " + std::string(option),
                       .advice = "version 0.9.68 or later is needed; or use another backend"};
}

}  // namespace

base::Status knows_options(const std::string& program) {
    base::Fd fd(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
    // Executable but not readable: firejail itself has to report a missing option.
    if (!fd && errno == EACCES) return base::success();
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0) return base::system_error("read " + program, errno);
    auto size = static_cast<size_t>(status.st_size);
    if (size == 0) return too_old(kNeeded[0]);
    void* place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd.get(), 0);
    if (place == MAP_FAILED) return base::system_error("read " + program, errno);
    base::Status known = base::success();
    for (std::string_view option : kNeeded) {
        if (::memmem(place, size, option.data(), option.size()) == nullptr) known = too_old(option);
    }
    ::munmap(place, size);
    return known;
}

namespace {

struct Row {
    std::string_view fragment;  // of firejail's message
    std::string_view cause;
    std::string_view advice;
};

constexpr std::string_view kDoctor = "run 'agent-sandbox doctor' for the cause and the fix";
constexpr std::string_view kPlan = "'agent-sandbox plan' shows the rule that asks for it";
constexpr std::string_view kAdministrator = "ask the administrator, or use another backend";

// The first row that matches decides; firejail's own line follows the cause.
constexpr Row kRows[] = {
    {"not allowed to use Firejail", "firejail is not for everybody on this host",
     "the administrator can add you to /etc/firejail/firejail.users"},
    {"existing sandbox was detected",
     "firejail takes this machine for another sandbox and builds no jail in it", "use another backend"},
    {"networking features are disabled", "firejail's network namespaces are turned off on this host",
     "the administrator can set 'network yes' in /etc/firejail/firejail.config"},
    {"is disabled in Firejail configuration",
     "a part of firejail that the jail needs is turned off on this host", kAdministrator},
    {"feature is disabled", "a part of firejail that the jail needs is turned off on this host",
     kAdministrator},
    {"command line option", "this firejail is too old", "version 0.9.68 or later is needed"},
    {"too many arguments", "there are more rules than firejail takes",
     "name directories instead of the files in them"},
    {"invalid filename", "firejail can't be told of a path", kPlan},
    {"invalid whitelist path", "firejail can't show a path", kPlan},
    {"too many whitelist top level directories", "there are more rules than firejail takes",
     "name directories instead of the files in them"},
    {"no suitable", "the jail does not show agent-sandbox itself", "report this as a fault of agent-sandbox"},
    {"mounting /proc", "a fresh /proc can't be mounted here, as in a container that masks parts of its own",
     kDoctor},
    {"mounting ", "firejail can't mount here, as in a container", kDoctor},
    {"clone", "this host refuses new namespaces", kDoctor},
    {"getpwuid", "firejail does not find your account in /etc/passwd or the site's directory",
     kAdministrator},
};

const Row* row_for(std::string_view line) {
    const Row* row = std::ranges::find_if(
        kRows, [&](const Row& candidate) { return line.find(candidate.fragment) != std::string_view::npos; });
    return row == std::end(kRows) ? nullptr : row;
}

std::string without_prefix(std::string_view line) {
    for (std::string_view prefix : {"Error: ", "Warning: "}) {
        if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    }
    return base::printable(line);
}

}  // namespace

// An error of firejail may have several lines, and warnings may precede it.
base::Error diagnose(std::string_view standard_error) {
    std::string_view last;
    for (std::string_view line : base::split(standard_error, '\n')) {
        line = base::trim(line);
        if (line.empty()) continue;
        last = last.starts_with("Error") ? last : line;
        const Row* row = row_for(line);
        if (row == nullptr) continue;
        return base::Error{
            .what = base::format("the jail could not be built: {} ({})", row->cause, without_prefix(line)),
            .advice = std::string(row->advice)};
    }
    std::string words = last.empty() ? "firejail ended without a word" : without_prefix(last);
    return base::Error{.what = "the jail could not be built: " + words, .advice = std::string(kDoctor)};
}

}  // namespace backends::firejail
