// SPDX-License-Identifier: MIT
#include "slurm/chaperon/stub_conversation.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "slurm/options/option.h"

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

base::Result<Captured> run_captured(const WorkerContext& worker, Launch launch, std::string_view input) {
    const std::string name = launch.name;
    Exchange exchange(worker.connection, worker.children, worker.limits.grace);
    Captured captured;
    bool is_too_much = false;
    auto keep_in = [&](std::string& kept) {
        return [&](std::string_view bytes) {
            if (captured.output.size() + captured.errors.size() + bytes.size() <= worker.limits.captured) {
                kept += bytes;
                return;
            }
            is_too_much = true;
            exchange.dismiss();
        };
    };
    exchange.on_output = keep_in(captured.output);
    exchange.on_errors = keep_in(captured.errors);
    // A signal from the stub: the caller has given up, and the command that needs this answer has not
    // started.
    exchange.on_news = [&] {
        if (!worker.connection.signals.empty()) exchange.dismiss();
    };
    exchange.source = input;
    exchange.is_source_over = true;
    if (auto started = exchange.start(std::move(launch), !input.empty(), std::nullopt); !started)
        return started.error();
    exchange.on_news();
    captured.ending = exchange.run();
    if (worker.connection.is_gone())
        return base::Error{.what = base::format("the caller of {} has gone", name)};
    if (!worker.connection.signals.empty()) return base::Error{.what = name + " was interrupted"};
    if (is_too_much) return base::Error{.what = name + " answers with more than can be read"};
    return captured;
}

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

// Theory of operation. The real salloc runs our holder as its command. When the holder runs, the allocation
// exists. Its environment arrives through salloc's standard output. The stub then runs the user's command,
// and the holder's input stays open until that command ends. The user's command never runs outside the jail.
// An allocation never outlives its stub, because the holder's input is closed when the worker exits.

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
