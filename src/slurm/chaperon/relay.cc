// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "slurm/chaperon/stub_conversation.h"

namespace slurm::chaperon {
namespace {

using channel::Type;

// A longer line is passed on in parts of about this size.
constexpr size_t kLongestLine = 1u << 20;

// Collects bytes and returns whole lines.
class Lines {
  public:
    using Take = std::function<void(std::string_view line)>;

    void add(std::string_view bytes, const Take& take) {
        pending_ += bytes;
        size_t begin = 0;
        for (size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
            take(std::string_view(pending_).substr(begin, end + 1 - begin));
        pending_.erase(0, begin);
        if (pending_.size() > kLongestLine) finish(take);
    }

    void finish(const Take& take) {
        if (!pending_.empty()) take(pending_);
        pending_.clear();
    }

  private:
    std::string pending_;
};

}  // namespace

base::Result<Ending> run_relayed(const WorkerContext& worker, Launch launch,
                                 const Conversation::Relayed& how) {
    Connection& connection = worker.connection;
    launch.environment.insert(launch.environment.end(), how.variables.begin(), how.variables.end());
    launch.directory = how.directory;

    Exchange exchange(connection, worker.children, worker.limits.grace);
    Lines lines;
    auto rewrite = [&](std::string_view line) {
        connection.send(channel::stream(Type::output, how.rewrite(line)));
    };
    exchange.on_output = [&](std::string_view bytes) {
        if (how.rewrite)
            lines.add(bytes, rewrite);
        else
            connection.send(channel::stream(Type::output, bytes));
    };
    exchange.on_errors = [&](std::string_view bytes) {
        connection.send(channel::stream(Type::error, bytes));
    };
    exchange.on_news = [&] {
        for (int number : std::exchange(connection.signals, {})) exchange.signal(number);
        if (auto window = std::exchange(connection.window, std::nullopt)) exchange.resize(*window);
        if (how.input) return;
        exchange.source += std::exchange(connection.input, {});
        exchange.is_source_over = connection.is_input_over;
    };
    exchange.on_written = [&](size_t bytes) {
        if (!how.input) connection.give_room(bytes);
    };
    if (how.input) {
        exchange.source = *how.input;
        exchange.is_source_over = true;
    }

    std::optional<channel::Window> terminal;
    if (how.has_terminal) terminal = connection.window.value_or(worker.window);
    const bool asks_stub = !how.input && (how.passes_input || how.has_terminal);
    if (how.input) exchange.source = *how.input;
    exchange.is_source_over = how.input.has_value();
    if (asks_stub) exchange.on_written = [&](size_t bytes) { connection.give_room(bytes); };
    if (auto started = exchange.start(std::move(launch), how.input || how.passes_input, terminal); !started)
        return started.error();
    if (how.has_terminal) connection.send(channel::frame(Type::raw));
    if (asks_stub) connection.give_room(channel::kWindow);
    // Handle input and signals that arrived before the command was started.
    exchange.on_news();
    Ending ending = exchange.run();
    if (how.rewrite) lines.finish(rewrite);
    return ending;
}

}  // namespace slurm::chaperon
