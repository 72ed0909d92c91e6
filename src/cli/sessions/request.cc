// SPDX-License-Identifier: MIT
// `request host|path|env NAME --because TEXT`: asks the user, from inside a jail. The supervisor files the
// question and answers on a socket of this process.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "session/asks/message.h"

namespace cli {
namespace {

using session::Ask;
using session::AskAnswer;

constexpr size_t kLargestReply = 4096;

base::Error not_asked(std::string what) {
    return {.what = std::move(what),
            .advice = "nothing was asked",
            .where = {},
            .exit_code = base::ExitCode::check_failed};
}

// The session answers within a second or two; a wait for the user has no end.
base::Result<AskAnswer> next_answer(const base::Fd& socket) {
    std::array<char, kLargestReply> bytes;
    ssize_t got = 0;
    do {
        got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    std::optional<AskAnswer> answer;
    if (got > 0) answer = session::decode_answer({bytes.data(), static_cast<size_t>(got)});
    if (answer) return *std::move(answer);
    return base::Error{.what = "the session does not answer",
                       .advice = "ask again",
                       .where = {},
                       .exit_code = base::ExitCode::check_failed};
}

// A path is asked for as this process names it, without "." and "..".
base::Result<std::string> name_for(const Invocation& call, Ask::Kind kind, const std::string& word) {
    if (kind != Ask::Kind::path) return word;
    const std::string home(host::variable(call.caller.environment, "HOME").value_or("/"));
    base::Result<base::Path> path = path_from(word, base::Path::known(home), call.caller.working_directory);
    if (!path) return path.error();
    return path->str();
}

int show(const Invocation& call, const Ask& ask, const AskAnswer& answer) {
    static constexpr std::array<std::string_view, 3> kStates = {"filed", "allowed", "refused"};
    const std::string_view state = kStates[static_cast<size_t>(answer.kind)];
    const int code = answer.kind == AskAnswer::Kind::no ? static_cast<int>(base::ExitCode::check_failed) : 0;
    const std::string text = base::printable(answer.text);
    if (call.arguments.wants_json) {
        base::Json object = base::Json::object().set("state", state).set("asks", to_text(ask.kind));
        object.set("name", ask.name).set("text", answer.kind == AskAnswer::Kind::filed ? "" : text);
        return call.output.result(object.dump(-1) + "\n", code);
    }
    const std::string subject = base::format("{} {}", to_text(ask.kind), base::printable(ask.name));
    if (answer.kind == AskAnswer::Kind::filed)
        return call.output.result(
            base::format("{}: filed as question {}; go on with other work, and make the same request again "
                         "to see the answer\n",
                         subject, text));
    return call.output.result(base::format("{}: {}: {}\n", subject, state, text), code);
}

}  // namespace

int ask_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    std::optional<Ask::Kind> kind;
    if (words.size() == 2) kind = session::ask_kind(words[0]);
    if (!kind) return wrong_words(call, "request takes host, path or env, and one name");
    const std::string because = call.arguments.own_value("--because");
    if (because.empty()) return wrong_words(call, "say why it is needed: --because TEXT");
    if (!base::file_exists(base::own_path(base::kOwnProgram)))
        return call.output.fail({.what = "request is for the inside of a jail",
                                 .advice = "outside, change the settings: agent-sandbox help settings",
                                 .where = {},
                                 .exit_code = base::ExitCode::usage});
    base::Result<std::string> name = name_for(call, *kind, words[1]);
    if (!name) return call.output.fail(name.error());
    const Ask ask{*kind, *name, because};
    if (name->size() > session::kLongestAskedName) return call.output.fail(not_asked("the name is too long"));
    base::Result<base::Fd> socket =
        session::send_ask({ask.kind, ask.name, because.substr(0, session::kLongestAskedName)});
    if (!socket) {
        base::Error error = socket.error();
        error.exit_code = base::ExitCode::check_failed;
        return call.output.fail(error);
    }
    base::Result<AskAnswer> answer = next_answer(*socket);
    while (answer && answer->kind == AskAnswer::Kind::filed && call.arguments.has_own("--wait"))
        answer = next_answer(*socket);
    return answer ? show(call, ask, *answer) : call.output.fail(answer.error());
}

}  // namespace cli
