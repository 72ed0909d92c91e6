// SPDX-License-Identifier: MIT
// Theory of operation. The real salloc runs our holder as its command; that the holder runs means that the
// allocation is there. Its environment comes through salloc's standard output, the stub is told to run the
// user's command, and the holder's input stays open for as long as that runs. The user's command never runs
// outside the jail, and an allocation never outlives its stub: the holder's input closes with the worker.
#include <utility>

#include "slurm/chaperon/stub_conversation.h"

namespace slurm::chaperon {
namespace {

using channel::Type;

constexpr size_t kLargestEnvironment = 1u << 20;

// The fields up to the empty one; nothing while that has not come.
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

base::Result<Ending> run_held(const Bench& bench, Launch launch, const Conversation::Choose& variables_for) {
    Connection& connection = bench.connection;
    Exchange exchange(connection, bench.children, bench.limits.grace);
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
        // Once the user's command runs, the stub's signals are that command's.
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
