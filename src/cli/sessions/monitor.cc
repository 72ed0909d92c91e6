// SPDX-License-Identifier: MIT
// `monitor`: the live screen, or once as text or JSON.
#include "monitor/monitor.h"

#include <unistd.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "monitor/terminal.h"

namespace cli {

int monitor_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "monitor takes no words");
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    monitor::Setup setup{.places = std::move(sessions->places),
                         .home = std::move(sessions->home),
                         .is_coloured = call.output.colours_results()};
    if (call.arguments.has_own("--once")) {
        if (call.arguments.wants_json) return call.output.result(monitor::print_json(setup));
        monitor::Size size = monitor::size_of_terminal(STDOUT_FILENO);
        return call.output.result(monitor::print_once(setup, size.width, size.height));
    }
    if (call.arguments.wants_json) return wrong_words(call, "monitor --json needs --once");
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
        return call.output.fail({.what = "monitor needs a terminal",
                                 .advice = "monitor --once prints the screen once, --json as data",
                                 .exit_code = base::ExitCode::usage});
    }
    base::Result<int> ended = monitor::run(setup);
    return ended ? *ended : call.output.fail(ended.error());
}

}  // namespace cli
