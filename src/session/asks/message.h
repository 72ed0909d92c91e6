// SPDX-License-Identifier: MIT
// The message by which a process of the jail asks the user for more: `agent-sandbox request`. It is a
// datagram on the socket of notices. With it comes one end of a socket pair, on which the supervisor answers.
// Every byte is the jail's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/result.h"

namespace session {

struct Ask {
    enum class Kind { host, path, env };
    Kind kind = Kind::host;
    std::string name;     // a host with or without a port, an absolute path, a variable
    std::string because;  // the agent's reason, plain text in one line

    bool operator==(const Ask&) const = default;
};
std::string_view to_text(Ask::Kind kind);  // "host"
std::optional<Ask::Kind> ask_kind(std::string_view text);

// A message that begins with it is not a notice.
inline constexpr std::string_view kAskMark =
    "\x01"
    "ask ";
inline constexpr size_t kLongestAskedName = 512;  // bytes
inline constexpr size_t kLargestAsk = 2048;       // bytes of a message

std::string encode(const Ask& ask);
// Nothing: damaged or too long, or the name has a character that can't be shown as it is. The text of
// `because` is cut to what a notice shows.
std::optional<Ask> decode_ask(std::string_view message);

// What the supervisor answers, one message each. `filed` comes first, unless there is an answer already.
struct AskAnswer {
    enum class Kind { filed, yes, no };
    Kind kind = Kind::no;
    std::string text;  // filed: the number of the question; else for the agent

    bool operator==(const AskAnswer&) const = default;
};
std::string encode(const AskAnswer& answer);
std::optional<AskAnswer> decode_answer(std::string_view message);

// Called inside a jail. Returns the socket on which the answers come. ENOENT: this jail has no such channel.
base::Result<base::Fd> send_ask(const Ask& ask);

}  // namespace session

template <>
inline constexpr session::Ask::Kind base::kLast<session::Ask::Kind> = session::Ask::Kind::env;
template <>
inline constexpr auto base::kFields<session::Ask> = std::tuple(&session::Ask::kind, &session::Ask::name,
                                                               &session::Ask::because);
template <>
inline constexpr session::AskAnswer::Kind base::kLast<session::AskAnswer::Kind> =
    session::AskAnswer::Kind::no;
template <>
inline constexpr auto base::kFields<session::AskAnswer> = std::tuple(&session::AskAnswer::kind,
                                                                     &session::AskAnswer::text);
