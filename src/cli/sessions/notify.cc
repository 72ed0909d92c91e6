// SPDX-License-Identifier: MIT
// `notify`: rings the bell of the user's terminal. Inside a jail the supervisor does it: it has a terminal
// even if this process does not (a hook of an agent, a background job).
#include <cerrno>

#include "base/file.h"
#include "base/inside/paths_inside.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "session/helpers/notice.h"

namespace cli {
namespace {

constexpr base::ExitCode kNobody = base::ExitCode::check_failed;

base::Error nobody(std::string what) {
    return {.what = std::move(what), .advice = "no notification was sent", .exit_code = kNobody};
}

base::Status send(std::string_view text) {
    constexpr std::string_view kSockets[] = {base::kNotifySocket};
    int number = session::send_notice(text, kSockets, session::FullQueue::waits);
    if (number == 0) return base::success();
    if (number == ENOENT) return nobody("the jail has no terminal to ring");
    if (number == EAGAIN) return nobody("too many notices at once");
    return nobody(base::system_error("reach the user's terminal", number).what);
}

}  // namespace

int notify_verb(const Invocation& call) {
    if (call.arguments.words.empty()) {
        return call.output.fail({.what = "no text to notify with",
                                 .advice = usage_of("notify"),
                                 .exit_code = base::ExitCode::usage});
    }
    std::string text = session::notice_text(base::join(call.arguments.words, " "));
    if (base::file_exists(base::own_path(base::kOwnProgram))) {
        base::Status sent = send(text);
        return sent ? 0 : call.output.fail(sent.error());
    }
    if (!session::ring_terminal(text)) return call.output.fail(nobody("there is no terminal to ring"));
    return 0;
}

}  // namespace cli
