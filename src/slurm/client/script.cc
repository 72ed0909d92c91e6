// SPDX-License-Identifier: MIT
#include "slurm/client/script.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "slurm/channel/request.h"
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

}  // namespace slurm::client
