// SPDX-License-Identifier: MIT
// Theory of operation. firejail is set-user-ID, so executing it clears PDEATHSIG. The jail still ends with
// the supervisor: the inner stage sees its socket close, kills all processes in the pid namespace and exits.
// Then firejail's pid 1 has no child left to wait for. If firejail's own process outside is killed, the
// kernel ends its pid 1 too, and the namespace with it.
//
// firejail installs its own handlers for SIGINT and SIGTERM, and would end the jail when one is sent to the
// caller's process group: so it gets its own group.
#include "backends/firejail/launch.h"

#include <unistd.h>

#include <cerrno>

#include "backends/channels.h"
#include "backends/firejail/checks.h"
#include "backends/firejail/options.h"
#include "backends/firejail/render.h"
#include "base/format.h"
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
                           .advice = "use another backend"};
    }
    return Host{.tree = tree, .home = home->path, .user = identity.uid, .program = facts.own_program};
}

// The network namespace is empty, and no process outside can set it up: the doorman passes connections one by
// one. In a traced jail the tracer answers the calls.
doorman::AnsweredCalls doorman_of(const plan::Plan& plan, const host::Facts& facts, const Caller& caller) {
    if (caller.answers.is_wanted) return caller.answers;
    bool is_handed = plan.network.egress.needs_gateway();
    bool is_refused = plan.network.abstract_sockets == plan::AbstractSockets::refused;
    bool has_terminal = caller.terminal >= 0 && facts.can_answer_calls && !plan.trace.is_wanted();
    using doorman::AbstractNames, doorman::Internet;
    return {.is_wanted = is_handed || is_refused || has_terminal,
            .internet = is_handed ? Internet::handed : Internet::host,
            .owns_loopback = is_handed,
            .gateway = caller.handoff,
            .abstract_names = is_refused ? AbstractNames::refused : AbstractNames::shared,
            .guards_terminal_size = has_terminal};
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

}  // namespace backends::firejail
