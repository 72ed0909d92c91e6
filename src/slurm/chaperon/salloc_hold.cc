// SPDX-License-Identifier: MIT
// Theory of operation. The real salloc runs our holder as its command. When the holder runs, the allocation
// exists. Its environment arrives through salloc's standard output. The stub then runs the user's command,
// and the holder's input stays open until that command ends. The user's command never runs outside the jail.
// An allocation never outlives its stub, because the holder's input is closed when the worker exits.
#include <utility>

#include "slurm/chaperon/stub_conversation.h"

namespace slurm::chaperon {
namespace {

using channel::Type;

constexpr size_t kLargestEnvironment = 1u << 20;

// The fields before the empty one. Nothing if the empty field has not arrived yet.
std::optional<std::vector<std::string>> fields_of(std::string_view bytes) {
    std::vector<std::string> fields;
    for (;;) {
        size_t end = bytes.find('\0');
        if (end == std::string_view::npos) return std::nullopt;
        if (end == 0) return fields;
        fields.emplace_back(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
}

}  // namespace

base::Result<Ending> run_held(const WorkerContext& worker, Launch launch,
                              const Conversation::Choose& variables_for) {
    Connection& connection = worker.connection;
    Exchange exchange(connection, worker.children, worker.limits.grace);
    std::string told;
    bool is_running = false;

    exchange.on_output = [&](std::string_view bytes) {
        if (is_running || told.size() + bytes.size() > kLargestEnvironment) return;
        told += bytes;
        auto environment = fields_of(told);
        if (!environment) return;
        is_running = true;
        for (const std::string& variable : variables_for(*environment))
            connection.send(channel::word(Type::variable, variable));
        connection.send(channel::frame(Type::run));
    };
    exchange.on_errors = [&](std::string_view bytes) {
        connection.send(channel::stream(Type::error, bytes));
    };
    exchange.on_news = [&] {
        // While the user's command runs, the stub's signals are for that command.
        for (int number : std::exchange(connection.signals, {})) {
            if (!is_running) exchange.signal(number);
        }
        if (is_running && connection.ended && !exchange.is_source_over) {
            exchange.source = std::string(1, static_cast<char>(*connection.ended));
            exchange.is_source_over = true;
        }
    };
    if (auto started = exchange.start(std::move(launch), true, std::nullopt); !started)
        return started.error();
    exchange.on_news();
    return exchange.run();
}

}  // namespace slurm::chaperon
