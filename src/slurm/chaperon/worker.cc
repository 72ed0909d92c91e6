// SPDX-License-Identifier: MIT
#include "slurm/chaperon/worker.h"

#include <csignal>
#include <utility>

#include "slurm/chaperon/stub_conversation.h"
#include "slurm/options/option.h"

namespace slurm::chaperon {
namespace {

// Not a command of Slurm: the session's own log, for the agent.
constexpr std::string_view kLogCommand = "log";

Call call_of(channel::StubRequest request) {
    Call call;
    call.command = std::move(request.command);
    call.arguments = std::move(request.arguments);
    call.environment = std::move(request.environment);
    call.directory = std::move(request.directory);
    call.script = std::move(request.script);
    call.has_terminal = request.terminal.has_value();
    if (request.terminal) call.window = {request.terminal->rows, request.terminal->columns};
    return call;
}

Ending handle(const Context& context, const Handlers& handlers, const Log& log, const Call& call,
              Conversation& conversation) {
    if (call.command == kLogCommand) {
        conversation.out(log.text());
        return {};
    }
    if (auto handler = handlers.find(call.command); handler != handlers.end())
        return handler->second(context, call, conversation);
    if (const RefusedCommand* refused = find_refused_command(call.command))
        return conversation.deny({std::string(refused->code), std::string(refused->reason), ""});
    return conversation.deny(
        {std::string(code::command), "this command is not available in the sandbox", ""});
}

}  // namespace

void answer(const Context& context, const Handlers& handlers, const Limits& limits, const Log& log,
            base::Fd socket) {
    ::signal(SIGPIPE, SIG_IGN);
    Connection connection(std::move(socket));
    auto children = watch_children();
    auto arrived = connection.receive_request(limits);
    if (auto* refused = std::get_if<Connection::Refused>(&arrived)) {
        log.write("", "refused", {{"code", refused->code}, {"what", refused->what}});
        connection.hang_up(channel::denied({refused->code, refused->what, ""}) +
                           channel::exit({.number = 1}));
        return;
    }
    auto* request = std::get_if<channel::StubRequest>(&arrived);
    if (!request || !children) return;
    WorkerContext worker{context, limits, connection, children->get(),
                         request->terminal.value_or(channel::Window{})};
    Call call = call_of(std::move(*request));
    StubConversation conversation(worker, log, call.command);
    Ending ending = handle(context, handlers, log, call, conversation);
    connection.send(channel::exit({.number = ending.status & 0xff, .is_signal = ending.by_signal}));
    connection.flush();
}

}  // namespace slurm::chaperon
