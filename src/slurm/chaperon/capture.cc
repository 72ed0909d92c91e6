// SPDX-License-Identifier: MIT
#include "base/format.h"
#include "slurm/chaperon/stub_conversation.h"

namespace slurm::chaperon {

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

}  // namespace slurm::chaperon
