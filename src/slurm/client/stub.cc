// SPDX-License-Identifier: MIT
#include "slurm/client/stub.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/file.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/result.h"
#include "base/text.h"
#include "slurm/channel/channel.h"
#include "slurm/client/session.h"
#include "slurm/jobs/environment.h"
#include "slurm/options/denial.h"
#include "slurm/options/directives.h"
#include "slurm/options/option.h"
#include "slurm/options/parse.h"

namespace slurm::client {
namespace {

base::Fd open_script(const std::string& name) {
    const char* search_path = std::getenv("PATH");
    for (const std::string& place : script_places(name, search_path ? search_path : "")) {
        base::Fd file(::open(place.c_str(), O_RDONLY | O_CLOEXEC));
        if (file) return file;
    }
    return base::Fd();
}

// Reads to the end of file, because standard input and pipes have no size.
Script read_all(int fd) {
    Script script;
    std::string text;
    char bytes[1 << 16];
    for (;;) {
        ssize_t count = ::read(fd, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        // sbatch treats a directory as an empty script.
        if (count < 0 && errno == EISDIR) break;
        if (count < 0) {
            script.problem =
                std::string("sbatch: error: Error reading from standard input: ") + std::strerror(errno);
            return script;
        }
        if (count == 0) break;
        text.append(bytes, static_cast<size_t>(count));
        if (text.size() > channel::kMaximumScript) {
            script.denial = Denial{std::string(code::too_large),
                                   channel::too_large("the script is", channel::kMaximumScript), ""};
            return script;
        }
    }
    script.text = std::move(text);
    return script;
}

std::optional<std::string> export_file_of(const Command& command, const std::string& script) {
    auto read = directives_of(script, "");
    const auto* directives = std::get_if<Directives>(&read);
    if (directives == nullptr) return std::nullopt;
    Parse parsed = parse_directives(command, *directives);
    const auto* options = std::get_if<Parsed>(&parsed);
    return options == nullptr ? std::nullopt : options->value_of("export-file");
}

}  // namespace

std::vector<std::string> script_places(std::string_view name, std::string_view search_path) {
    std::vector<std::string> places = {std::string(name)};
    if (name.find('/') != std::string_view::npos || name.starts_with('.')) return places;
    for (std::string_view folder : base::split(search_path, ':'))
        places.push_back((folder.empty() ? "." : std::string(folder)) + "/" + std::string(name));
    return places;
}

Script read_script(std::span<const std::string> arguments) {
    const Command* command = find_command("sbatch");
    if (!command) return {};
    Parse parsed = parse(*command, arguments);
    // The chaperon reports errors in the command line.
    auto* line = std::get_if<Parsed>(&parsed);
    if (!line || line->informs || line->has("wrap")) return {};
    if (line->words.empty()) return read_all(STDIN_FILENO);
    base::Fd file = open_script(line->words[0]);
    if (!file) return {.problem = "sbatch: error: Unable to open file " + line->words[0]};
    return read_all(file.get());
}

ExportFile read_export_file(std::span<const std::string> arguments,
                            const std::optional<std::string>& script) {
    const Command* command = find_command("sbatch");
    if (!command) return {};
    Parse parsed = parse(*command, arguments);
    auto* line = std::get_if<Parsed>(&parsed);
    if (!line || line->informs) return {};
    std::optional<std::string> name = line->value_of("export-file");
    if (!name && script) name = export_file_of(*command, *script);
    if (!name) return {};
    // A number from 3 is a descriptor.
    std::optional<int> number = base::parse_number<int>(*name);
    base::Fd file(number && *number > 2 ? ::fcntl(*number, F_DUPFD_CLOEXEC, 3)
                                        : ::open(name->c_str(), O_RDONLY | O_CLOEXEC));
    base::Result<std::string> text = base::Error{};
    if (file) text = base::read_descriptor(file.get(), channel::kMaximumEnvironment);
    if (!text)
        return {.entries = {}, .problem = "sbatch: error: Could not open user environment file " + *name};
    ExportFile read;
    for (std::string_view entry : base::split(*text, '\0')) {
        if (entry.find('=') != entry.npos)
            read.entries.push_back(std::string(kFromFile) + std::string(entry));
    }
    return read;
}

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
    // Only to find the script or the command among the words: the chaperon decides about the options.
    if (const char* options = std::getenv(kSpankVariable); options != nullptr) {
        std::vector<std::string> texts;
        for (std::string_view text : base::split(options, ' ')) texts.emplace_back(text);
        add_spank_options(texts);
    }
    channel::StubRequest request = request_of(name, argc, argv);
    if (name == "sbatch") {
        Script script = read_script(request.arguments);
        if (!script.problem.empty()) return say(script.problem, kRefused);
        if (script.denial) return say(text_of(*script.denial, name), kRefused);
        request.script = std::move(script.text);
        ExportFile exports = read_export_file(request.arguments, request.script);
        if (!exports.problem.empty()) return say(exports.problem, kRefused);
        std::ranges::move(exports.entries, std::back_inserter(request.environment));
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

std::optional<std::string> stub_name(std::string_view executed, std::string_view first_word) {
    for (std::string_view word : {executed, first_word}) {
        std::string_view name = word.substr(word.rfind('/') + 1);
        if (find_command(name) || find_refused_command(name)) return std::string(name);
    }
    return std::nullopt;
}

}  // namespace slurm::client
