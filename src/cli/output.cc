// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "monitor/terminal.h"

namespace cli {
namespace {

constexpr size_t kReadable = 100;

}  // namespace

using base::Style;

Output Output::standard(const std::vector<std::string>& environment) {
    // An empty NO_COLOR counts as unset, as no-color.org defines it.
    bool may_colour = std::ranges::none_of(environment, [](std::string_view variable) {
        return (variable.starts_with("NO_COLOR=") && variable.size() > 9) || variable == "TERM=dumb";
    });
    auto stream = [&](int descriptor) {
        bool is_terminal = ::isatty(descriptor) == 1;
        return Stream{descriptor, is_terminal, is_terminal && may_colour};
    };
    return Output(stream(STDOUT_FILENO), stream(STDERR_FILENO));
}

void Output::detail(std::string_view text) const {
    if (is_verbose_ && !is_quiet_) message(text, Style::plain);
}

void Output::information(std::string_view text) const {
    if (is_quiet_ || (!messages_.is_terminal && !is_verbose_)) return;
    message(text, Style::plain);
}

void Output::warning(std::string_view text) const {
    if (!is_quiet_) message(text, Style::yellow);
}

void Output::protection(std::string_view text) const {
    message(text, Style::yellow);
}

void Output::error(const base::Error& error) const {
    message(error.line(), Style::red);
}

int Output::fail(const base::Error& error) const {
    this->error(error);
    return static_cast<int>(error.exit_code);
}

int Output::result(std::string_view text, int exit_code) const {
    base::Status written = base::write_all(results_.descriptor, text);
    if (written) return exit_code;
    error(written.error());
    return kFailed;
}

size_t Output::width_of_results() const {
    if (!results_.is_terminal) return kReadable;
    return std::min(monitor::size_of_terminal(results_.descriptor).width, kReadable);
}

// One write for the whole line, so that lines of concurrent sessions don't mix.
void Output::message(std::string_view text, Style style) const {
    std::string line =
        base::format("{} {}\n", base::styled("agent-sandbox:", Style::dim, messages_.is_coloured),
                     base::styled(base::printable(text), style, messages_.is_coloured));
    // If standard error is closed, there is no other place to report that.
    static_cast<void>(base::write_all(messages_.descriptor, line).ok());
}

}  // namespace cli
