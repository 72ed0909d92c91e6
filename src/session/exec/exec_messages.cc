// SPDX-License-Identifier: MIT
#include "session/exec/exec_messages.h"

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/encoding/base64.h"
#include "base/text.h"
#include "inner/messages.h"
#include "session/session.h"

namespace session {
namespace {

base::Json words(const std::vector<std::string>& list, bool is_encoded) {
    base::Json array = base::Json::array();
    for (const std::string& word : list) array.push(is_encoded ? base::to_base64(word) : word);
    return array;
}

bool is_text(const AddedCall& call) {
    auto all_text = [](const std::vector<std::string>& list) {
        return std::ranges::all_of(list, base::is_valid_utf8);
    };
    return all_text(call.command) && all_text(call.environment) && base::is_valid_utf8(call.directory);
}

base::Error failure_in(const base::Json& answer) {
    const int64_t code = answer.number("exit_code", static_cast<int>(base::ExitCode::jail_failed));
    return base::Error{.what = answer.text("error", "the session refused without a reason"),
                       .advice = answer.text("advice"),
                       .exit_code = static_cast<base::ExitCode>(code),
                       .may_pass = answer.truth("may_pass")};
}

}  // namespace

base::Result<std::string> encode(const ExecRequest& about) {
    const AddedCall& call = about.call;
    const bool is_encoded = !is_text(call);
    base::Json request = base::Json::object();
    request.set("do", "exec").set("command", words(call.command, is_encoded));
    request.set("environment", words(call.environment, is_encoded));
    request.set("cwd", is_encoded ? base::to_base64(call.directory) : call.directory);
    request.set("terminal", about.has_terminal).set("ignored", static_cast<int64_t>(about.ignored_signals));
    if (is_encoded) request.set("base64", true);
    std::string text = request.dump(-1);
    if (text.size() <= kLargestControlMessage) return text;
    return base::Error{.what = base::format("the command and its variables have more than {} KiB",
                                            inner::kLargestAddedWords >> 10),
                       .advice = "put them into a script or a file of the project"};
}

ExecAnswer decode_exec_answer(std::string_view text) {
    base::Result<base::Json> answer = base::Json::parse(text);
    if (!answer || !answer->is_object()) {
        return {.failure = base::Error{.what = "the session gave an answer that can't be read",
                                       .advice = "is it of another version of the program?"}};
    }
    if (!answer->truth("ok")) return {.failure = failure_in(*answer)};
    const base::Json* ended = answer->find("ended");
    if (ended == nullptr) return {};
    const bool by_signal = ended->find("signal") != nullptr;
    const auto number = static_cast<int>(ended->number(by_signal ? "signal" : "status"));
    return {.ending = AddedEnding{.exit_code = by_signal ? kSignalBase + number : number,
                                  .by_signal = by_signal,
                                  .with_session = ended->truth("with_session")}};
}

ExecAnswer exec_answer_of_end(const Known& known, bool has_started) {
    if (has_started) {
        return {.ending =
                    AddedEnding{.exit_code = kSignalBase + SIGKILL, .by_signal = true, .with_session = true}};
    }
    base::Error failure = has_ended(known);
    failure.exit_code = base::ExitCode::jail_failed;
    return {.failure = std::move(failure)};
}

std::string encode_signal(int signal, bool is_for_group) {
    return base::Json::object().set("signal", signal).set("group", is_for_group).dump(-1);
}

}  // namespace session
