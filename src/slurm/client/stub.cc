// SPDX-License-Identifier: MIT
#include "slurm/client/stub.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/format.h"
#include "base/process/descriptors.h"
#include "base/result.h"
#include "slurm/channel/request.h"
#include "slurm/client/script.h"
#include "slurm/client/session.h"
#include "slurm/options/denial.h"

namespace slurm::client {
namespace {

constexpr int kRefused = 1;
constexpr int kGone = static_cast<int>(base::ExitCode::not_found);

int say(const std::string& line, int exit_code) {
    std::fprintf(stderr, "%s\n", line.c_str());
    return exit_code;
}

int say_gone(const std::string& name, const char* how) {
    return say(base::format("{}: the sandbox's Slurm helper {}; tell the user: a new session has a new one",
                            name, how),
               kGone);
}

int say_closed(const std::string& name) {
    return say(
        name +
            ": Slurm is closed in this sandbox (slurm.mode); this is policy, not a fault: do not retry or "
            "work around it, ask the user",
        kGone);
}

// The parts that every request has. Environment strings without a name are dropped, as a shell does.
channel::StubRequest request_of(const std::string& name, int argc, char** argv) {
    channel::StubRequest request;
    request.command = name;
    for (int index = 1; index < argc; ++index) request.arguments.emplace_back(argv[index]);
    for (char** variable = environ; *variable; ++variable) {
        const char* equals = std::strchr(*variable, '=');
        if (equals && equals != *variable) request.environment.emplace_back(*variable);
    }
    char directory[PATH_MAX];
    // The current directory may have been removed.
    bool has_one = ::getcwd(directory, sizeof directory) && directory[0] == '/';
    request.directory = has_one ? directory : "/";
    request.terminal = Terminal::window();
    return request;
}

// Empty on failure, with errno set.
base::Fd connect_to(const std::string& path) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int result;
    do {
        result = ::connect(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address);
    } while (result != 0 && errno == EINTR);
    if (result == 0) return socket;
    const int problem = errno;
    socket.reset();
    errno = problem;
    return socket;
}

}  // namespace

int run_stub(const std::string& name, int argc, char** argv, const std::string& path) {
    base::fill_standard_descriptors();
    channel::StubRequest request = request_of(name, argc, argv);
    if (name == "sbatch") {
        Script script = read_script(request.arguments);
        if (!script.problem.empty()) return say(script.problem, kRefused);
        if (script.denial) return say(text_of(*script.denial, name), kRefused);
        request.script = std::move(script.text);
    }
    Redirection redirection;
    if (name == "srun") redirection = open_files(request.arguments, request.environment);
    if (!redirection.problem.empty()) return say(redirection.problem, kRefused);

    base::Fd socket = connect_to(path);
    // After the chaperon has exited, its socket remains and refuses connections. Without Slurm in this
    // session there is no socket.
    if (!socket) return errno == ENOENT ? say_closed(name) : say_gone(name, "is not there");
    const bool passes_signals = name == "srun" || name == "salloc";
    Session session(name, request.arguments, std::move(socket), passes_signals, std::move(redirection));
    auto exit = session.run(channel::render(request));
    if (!exit) return say_gone(name, "went away before the command had ended");
    return end_like(*exit);
}

}  // namespace slurm::client
