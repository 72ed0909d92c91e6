// SPDX-License-Identifier: MIT
#include "session/asks/message.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/inside/jail_files.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "session/helpers/notices.h"

namespace session {
namespace {

constexpr std::string_view kAnswer = "answer";
constexpr std::pair<Ask::Kind, std::string_view> kKinds[] = {
    {Ask::Kind::host, "host"}, {Ask::Kind::path, "path"}, {Ask::Kind::env, "env"}};

// The name inside depends on whether the session has a terminal.
constexpr std::array<std::string_view, 2> kSockets = {base::kNotifySocket, base::kMailSocket};

// Zero or an errno.
int connect_to(int socket, std::string_view name) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = base::own_path(name);
    if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    std::memcpy(address.sun_path, path.data(), path.size());
    auto* place = reinterpret_cast<const struct sockaddr*>(&address);
    return ::connect(socket, place, sizeof address) == 0 ? 0 : errno;
}

}  // namespace

std::string_view to_text(Ask::Kind kind) {
    return std::ranges::find(kKinds, kind, &std::pair<Ask::Kind, std::string_view>::first)->second;
}

std::optional<Ask::Kind> ask_kind(std::string_view text) {
    const auto* found = std::ranges::find(kKinds, text, &std::pair<Ask::Kind, std::string_view>::second);
    return found == std::end(kKinds) ? std::nullopt : std::optional(found->first);
}

std::string encode(const Ask& ask) {
    return base::encode_message(kAskMark, ask);
}

// Threat: a name with control characters, or with those that turn the direction of text, reads on the user's
// screen as another name. Such a name is refused, not escaped, because the user would answer about the
// escaped text (tests/session/ask_message_test.cc).
std::optional<Ask> decode_ask(std::string_view message) {
    Ask ask;
    if (message.size() > kLargestAsk) return std::nullopt;
    if (base::decode_message(kAskMark, message, ask) != base::Decoded::well) return std::nullopt;
    bool is_plain = !ask.name.empty() && ask.name.size() <= kLongestAskedName &&
                    base::printable(ask.name) == ask.name && base::trim(ask.name) == ask.name;
    if (!is_plain) return std::nullopt;
    ask.because = notice_text(ask.because);
    return ask;
}

std::string encode(const AskAnswer& answer) {
    return base::encode_message(kAnswer, answer);
}

std::optional<AskAnswer> decode_answer(std::string_view message) {
    AskAnswer answer;
    if (base::decode_message(kAnswer, message, answer) != base::Decoded::well) return std::nullopt;
    return answer;
}

namespace {

base::Error no_channel() {
    return {.what = "this jail has no channel to its user",
            .advice =
                "say in your answer what you need and why: the backends landlock and firejail offer no "
                "such channel"};
}

}  // namespace

base::Result<base::Fd> send_ask(const Ask& ask) {
    base::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    // A jail without namespaces can't make one.
    if (!socket && (errno == EACCES || errno == EPERM)) return no_channel();
    int ends[2];
    if (!socket || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a socket", errno);
    base::Fd ours(ends[0]), theirs(ends[1]);
    // The supervisor reads once in a second.
    const struct timeval patience = {.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int number = ENOENT;
    for (std::string_view name : kSockets) {
        number = connect_to(socket.get(), name);
        if (number != ENOENT) break;
    }
    const std::array<int, 1> passed = {theirs.get()};
    if (number == 0) number = base::send_with_descriptors(socket.get(), encode(ask), passed, 0);
    if (number == EAGAIN) return base::Error{.what = "too many messages to the session at once"};
    if (number == ENOENT) return no_channel();
    if (number != 0) return base::system_error("reach the session", number);
    return ours;
}

}  // namespace session
