// SPDX-License-Identifier: MIT
#include "slurm/client/redirect.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/parse.h"
#include "slurm/options/parse.h"
#include "slurm/options/variables.h"

namespace slurm::client {
namespace {

struct RedirectOptions {
    std::optional<std::string> output, errors, input, mode;
};

std::optional<std::string> last_of(std::span<const ParsedOption> options, std::string_view name) {
    std::optional<std::string> value;
    for (const ParsedOption& given : options) {
        if (given.option->name == name) value = given.value;
    }
    return value;
}

// The command line wins against the variables.
std::optional<RedirectOptions> redirect_options(std::span<const std::string> arguments,
                                                std::span<const std::string> environment) {
    const Command* command = find_command("srun");
    if (!command) return std::nullopt;
    Parse parsed = parse(*command, arguments);
    auto* line = std::get_if<Parsed>(&parsed);
    if (!line || line->informs) return std::nullopt;
    auto variables = options_from_variables(*command, environment);
    auto* set = std::get_if<FromVariables>(&variables);
    auto value_of = [&](std::string_view name) {
        auto value = last_of(line->options, name);
        return value || !set ? value : last_of(set->options, name);
    };
    return RedirectOptions{value_of("output"), value_of("error"), value_of("input"), value_of("open-mode")};
}

// The message that srun prints.
std::string problem_with(std::string_view stream, int number) {
    return base::format("srun: error: Could not open {} file: {}", stream, std::strerror(number));
}

std::shared_ptr<base::Fd> open_output(const std::string& path, std::string_view stream,
                                      Redirection& redirection) {
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (redirection.appends ? O_APPEND : 0);
    auto file = std::make_shared<base::Fd>(::open(path.c_str(), flags, 0666));
    if (!*file) redirection.problem = problem_with(stream, errno);
    return file;
}

}  // namespace

bool is_plain_file(std::string_view value) {
    if (value.empty() || value == "all" || value == "none") return false;
    if (value.find('%') != std::string_view::npos) return false;
    return !std::ranges::all_of(value, base::is_digit);
}

Redirection open_files(std::span<const std::string> arguments, std::span<const std::string> environment) {
    Redirection redirection;
    auto requested = redirect_options(arguments, environment);
    if (!requested) return redirection;
    redirection.appends = requested->mode && requested->mode->starts_with('a');
    if (requested->output && is_plain_file(*requested->output)) {
        redirection.output = open_output(*requested->output, "stdout", redirection);
        // Both streams go to one file unless errors have a file of their own.
        if (!requested->errors || *requested->errors == *requested->output)
            redirection.errors = redirection.output;
    }
    if (!redirection.errors && requested->errors && is_plain_file(*requested->errors))
        redirection.errors = open_output(*requested->errors, "stderr", redirection);
    if (requested->input && is_plain_file(*requested->input)) {
        redirection.input.emplace(::open(requested->input->c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
        if (!*redirection.input) redirection.problem = problem_with("stdin", errno);
    }
    return redirection;
}

void empty_files(const Redirection& redirection) {
    if (redirection.appends) return;
    for (const auto& file : {redirection.output, redirection.errors}) {
        struct stat facts;
        // A terminal or a pipe cannot be truncated.
        if (file && ::fstat(file->get(), &facts) == 0 && S_ISREG(facts.st_mode))
            (void)!::ftruncate(file->get(), 0);
    }
}

}  // namespace slurm::client
