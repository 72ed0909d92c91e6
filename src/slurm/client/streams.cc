// SPDX-License-Identifier: MIT
#include "slurm/client/streams.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "slurm/channel/channel.h"
#include "slurm/options/directives.h"
#include "slurm/options/parse.h"

namespace slurm::client {
namespace {

// A pipe that poll reports as writable accepts at least a page.
constexpr size_t kSurelyFits = 4096;
constexpr std::chrono::milliseconds kWithoutEnd{-1};
constexpr std::string_view kMark = "srun: ";

}  // namespace

Outlet::Outlet(int fd) : fd_(fd) {
    struct stat facts;
    is_file_ = ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool Outlet::is_full() const {
    return pending_.size() >= channel::kWindow;
}

bool Outlet::write_some() {
    size_t written = 0;
    // A file accepts everything at once. For other descriptors, poll again after each page.
    while (written < pending_.size()) {
        size_t size = pending_.size() - written;
        if (!is_file_) size = std::min(size, kSurelyFits);
        ssize_t count = ::write(fd_, pending_.data() + written, size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno != EAGAIN) return false;
        if (count > 0) written += static_cast<size_t>(count);
        if (!is_file_ && !(base::ready_events(fd_, POLLOUT) & POLLOUT)) break;
    }
    pending_.erase(0, written);
    return true;
}

bool Outlet::write_rest() {
    while (!pending_.empty()) {
        if (base::await_events(fd_, POLLOUT, kWithoutEnd) == 0 || !write_some()) return false;
    }
    return true;
}

void ErrorSplitter::add(std::string_view bytes, std::string& of_tasks, std::string& of_srun) {
    for (char byte : bytes) {
        if (line_ == Line::undecided) {
            start_ += byte;
            if (kMark.starts_with(start_) && start_.size() < kMark.size()) continue;
            line_ = start_ == kMark ? Line::of_srun : Line::of_task;
            (line_ == Line::of_srun ? of_srun : of_tasks) += start_;
            start_.clear();
        } else {
            (line_ == Line::of_srun ? of_srun : of_tasks) += byte;
        }
        if (byte == '\n') line_ = Line::undecided;
    }
}

void ErrorSplitter::finish(std::string& of_tasks) {
    of_tasks += start_;
    start_.clear();
}

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

std::optional<channel::Window> Terminal::window() {
    if (!::isatty(STDIN_FILENO)) return std::nullopt;
    struct winsize size = {};
    ::ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    return channel::Window{size.ws_row, size.ws_col};
}

void Terminal::make_raw() {
    struct termios settings;
    if (before_ || ::tcgetattr(STDIN_FILENO, &settings) != 0) return;
    before_ = settings;
    ::cfmakeraw(&settings);
    // TCSANOW, because waiting for the output to drain would never end after Ctrl-S.
    ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

void Terminal::restore() {
    if (!before_) return;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
    before_.reset();
}

void Terminal::make_raw_again() {
    if (!before_) return;
    before_.reset();
    make_raw();
}

}  // namespace slurm::client
