// SPDX-License-Identifier: MIT
#include "slurm/chaperon/stub_conversation.h"

#include "slurm/options/option.h"

#include <utility>

namespace slurm::chaperon {

using channel::Type;

base::Result<Launch> launch_of(const Context& context, std::string_view client,
                               const std::vector<std::string>& arguments) {
    int program = context.clients.descriptor_of(client);
    if (program < 0) return base::Error{.what = std::string(client) + " is not installed on this host"};
    Launch launch;
    launch.program = program;
    launch.name = client;
    launch.arguments = arguments;
    launch.environment = context.environment;
    launch.death_signal = death_signal_of(client);
    launch.starts_nothing = find_command(client) != nullptr && client != "salloc";
    return launch;
}

void StubConversation::say(Type type, std::string_view text) {
    while (!text.empty() && !worker_.connection.is_gone()) {
        std::string_view part = text.substr(0, channel::kWindow);
        text.remove_prefix(part.size());
        worker_.connection.send(channel::stream(type, part));
        // Wait for the reader here, so that a long answer is not copied into memory as a whole.
        if (worker_.connection.is_congested()) worker_.connection.flush();
    }
}

void StubConversation::out(std::string_view text) {
    say(Type::output, text);
}

void StubConversation::err(std::string_view text) {
    say(Type::error, text);
}

Ending StubConversation::deny(const Denial& denial) {
    worker_.connection.send(channel::denied({denial.code, denial.what, denial.advice}));
    log_.write(command_, "denied", {{"code", denial.code}, {"what", denial.what}});
    return {.status = 1};
}

void StubConversation::record(std::string_view event, const std::map<std::string, std::string>& facts) {
    log_.write(command_, event, facts);
}

base::Result<Captured> StubConversation::capture(std::string_view client,
                                                 const std::vector<std::string>& arguments,
                                                 std::string_view input) {
    auto launch = launch_of(worker_.context, client, arguments);
    if (!launch) return launch.error();
    return run_captured(worker_, std::move(*launch), input);
}

base::Result<Ending> StubConversation::relay(std::string_view client,
                                             const std::vector<std::string>& arguments, const Relayed& how) {
    auto launch = launch_of(worker_.context, client, arguments);
    if (!launch) return launch.error();
    return run_relayed(worker_, std::move(*launch), how);
}

base::Result<Ending> StubConversation::hold(std::string_view client,
                                            const std::vector<std::string>& arguments,
                                            const Choose& variables_for) {
    auto launch = launch_of(worker_.context, client, arguments);
    if (!launch) return launch.error();
    return run_held(worker_, std::move(*launch), variables_for);
}

}  // namespace slurm::chaperon
