// SPDX-License-Identifier: MIT
// `notify`: rings the user's terminal. Inside a jail the supervisor does it, which has one even where this
// process has none (a hook of an agent, a job in the background).
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/own_place.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "session/notice.h"

namespace cli {
namespace {

constexpr base::ExitCode kNobody = base::ExitCode::check_failed;

base::Error nobody(std::string what) {
    return {.what = std::move(what), .advice = "nobody was notified", .exit_code = kNobody};
}

// The supervisor looks once in a second. Where others have filled the queue until then, this one waits.
base::Status send(std::string_view text) {
    base::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string path = base::own_path(base::kNotifySocket);
    if (path.size() >= sizeof address.sun_path) return nobody("the jail has no terminal to ring");
    std::memcpy(address.sun_path, path.data(), path.size());
    struct timeval patience = {.tv_sec = 3, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const struct sockaddr*>(&address), sizeof address) >= 0) {
        return base::success();
    }
    if (errno == ENOENT) return nobody("the jail has no terminal to ring");
    if (errno == EAGAIN) return nobody("too many notices at once");
    return nobody(base::system_error("reach the user's terminal", errno).what);
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
