// SPDX-License-Identifier: MIT
// `agent-sandbox [OPTIONS] mcp`: a server of the Model Context Protocol on standard streams, for one session.
//
// Theory of operation. A fork of this process starts the session and becomes its supervisor. The session's
// own command is this program, which waits for the end of a connection to the server. So the session ends
// with the server, however the server ends. Every call of a tool is one command that the server adds to the
// session, as `exec` does: the server opens no path for the client and has no part in what the jail permits.
//
// Threat: a process of the jail that opened a pipe of the session's own command through /proc would hold its
// other end, and the session would outlive the server. A socket can't be opened there. It may also stop that
// command: then the server ends the session itself (tests/jail/mcp.bats).
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/mcp/inside.h"
#include "cli/mcp/server.h"
#include "cli/output.h"
#include "cli/sessions/records.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "policy/policy.h"
#include "session/exec/added_process.h"

namespace cli {
namespace {

constexpr size_t kLongestGreeting = 4096;

// The session, as a child of the server.
struct Jail {
    pid_t supervisor = -1;
    base::Fd end;       // the session ends when it is closed
    base::Fd greeting;  // the path of the program inside, then the end of the session
};

[[noreturn]] void run_session(const Invocation& call, const base::Fd& input, const base::Fd& output) {
    ::dup2(input.get(), STDIN_FILENO);
    ::dup2(output.get(), STDOUT_FILENO);
    base::close_others({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    Arguments arguments = call.arguments;
    arguments.verb.clear();
    arguments.words = {std::string(base::kOwnProgramPath), std::string(kMcpInsideRole), "hold"};
    const int code = run_verb({call.caller, arguments, call.output});
    ::_exit(code);
}

base::Result<Jail> start_jail(const Invocation& call) {
    int input[2], output[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0)
        return base::system_error("make a connection for the session", errno);
    base::Fd jails_input(input[0]);
    Jail jail{.end = base::Fd(input[1])};
    if (::pipe2(output, O_CLOEXEC) != 0) return base::system_error("make a pipe for the session", errno);
    jail.greeting = base::Fd(output[0]);
    base::Fd jails_output(output[1]);
    jail.supervisor = ::fork();
    if (jail.supervisor < 0) return base::system_error("start the session", errno);
    if (jail.supervisor == 0) run_session(call, jails_input, jails_output);
    return jail;
}

// The first line of the session's own command; empty: the session did not start, and its error is printed.
std::string read_greeting(const Jail& jail) {
    std::string line;
    char letter = 0;
    while (line.size() < kLongestGreeting) {
        const ssize_t got = ::read(jail.greeting.get(), &letter, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return {};
        if (letter == '\n') return line;
        line += letter;
    }
    return {};
}

// The exit status of the session. `known` is null if it was not found.
int end_jail(Jail& jail, const session::Known* known) {
    constexpr std::chrono::seconds kLongestEnd{3};
    jail.end.reset();
    const base::Fd process = base::open_pidfd(jail.supervisor);
    bool is_waiting = known != nullptr && base::await_events(process ? process.get() : jail.greeting.get(),
                                                             POLLIN, kLongestEnd) == 0;
    if (is_waiting)
        (void)session::ask_session(*known, base::Json::object().set("do", "stop").set("now", true));
    int status = 0;
    while (::waitpid(jail.supervisor, &status, 0) < 0) {
        if (errno != EINTR) return static_cast<int>(base::ExitCode::jail_failed);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

base::Result<session::Known> known_session(const Invocation& call, const Jail& jail) {
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return sessions.error();
    auto found = std::ranges::find_if(sessions->known, [&](const session::Known& known) {
        return known.metadata.number("pid") == jail.supervisor;
    });
    if (found != sessions->known.end()) return *found;
    return base::Error{.what = "the session of this server can't be found",
                       .advice = "'agent-sandbox ps' lists the sessions that run"};
}

// The session's own command can be faster than its supervisor, which takes added commands a moment later. A
// session that takes none, for example because it is traced, is an error now and not at each call.
base::Status wait_until_open(const session::Known& known, const std::string& inside) {
    constexpr std::chrono::milliseconds kPause{2};
    const session::AddedCall probe{.command = {inside, std::string(kMcpInsideRole), "hold"}};
    while (true) {
        std::array<base::Fd, 3> standard;
        for (base::Fd& one : standard) one = base::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
        auto process = session::AddedProcess::start(known, probe, std::move(standard));
        if (!process) return process.error();
        while (!process->is_over()) {
            (void)base::await_events(process->descriptor(), POLLIN, std::chrono::milliseconds(-1));
            process->hear();
        }
        if (!process->failure()) return base::success();
        if (!process->failure()->may_pass) return *process->failure();
        std::this_thread::sleep_for(kPause);
    }
}

base::Result<audit::UserDirectories> directories_of(const Invocation& call, const session::Known& known) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return workspace.error();
    audit::UserDirectories directories = user_directories_of(*workspace);
    if (base::Result<base::Path> path = base::Path::parse(known.metadata.text("project")))
        directories.project = *path;
    return directories;
}

// With them the session ends in order, as with the end of the input.
base::Fd signals_that_end() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return base::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int serve(const Invocation& call, Jail& jail, const std::string& inside) {
    base::Result<session::Known> known = known_session(call, jail);
    auto give_up = [&](const base::Error& error) {
        (void)end_jail(jail, known ? &*known : nullptr);
        return call.output.fail(error);
    };
    if (!known) return give_up(known.error());
    if (base::Status open = wait_until_open(*known, inside); !open) return give_up(open.error());
    base::Result<audit::UserDirectories> directories = directories_of(call, *known);
    if (!directories) return give_up(directories.error());
    const mcp::Offer offer{
        .has_network = known->metadata.text("network") != policy::to_text(policy::NetworkMode::isolated),
        .has_layer = !known->metadata.text("layer_files").empty()};
    base::EventLoop loop;
    McpServer server(loop, {call, loop, *known, inside, *std::move(directories)}, offer,
                     {.session = jail.greeting.get()});
    const base::Fd signals = signals_that_end();
    loop.add(base::signal_source(signals.get(), [&](const auto& /*one*/) { server.stop(); }));
    server.serve();
    const bool is_lost = server.has_lost_session();
    const int status = end_jail(jail, &*known);
    if (!is_lost) return status;
    call.output.warning(base::format("session {} has ended, and the server with it", short_id(*known)));
    return status == 0 ? static_cast<int>(base::ExitCode::jail_failed) : status;
}

}  // namespace

int mcp_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "mcp takes no words");
    if (base::file_exists(base::own_path(base::kOwnProgram)))
        return call.output.fail({.what = "mcp is for the outside of a jail",
                                 .advice = "inside, the client itself is in the jail"});
    base::Result<Jail> jail = start_jail(call);
    if (!jail) return call.output.fail(jail.error());
    // A client or a command that closes its end must not end the server before the session.
    std::signal(SIGPIPE, SIG_IGN);
    const std::string inside = read_greeting(*jail);
    if (!inside.empty()) return serve(call, *jail, inside);
    const int status = end_jail(*jail, nullptr);
    return status == 0 ? static_cast<int>(base::ExitCode::jail_failed) : status;
}

}  // namespace cli
