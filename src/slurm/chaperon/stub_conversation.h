// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/chaperon/connection.h"
#include "slurm/chaperon/conversation.h"
#include "slurm/chaperon/log.h"
#include "slurm/chaperon/processes.h"
#include "slurm/chaperon/serve.h"

namespace slurm::chaperon {

// The parts that every run of a real command needs.
struct WorkerContext {
    const Context& context;
    const Limits& limits;
    Connection& connection;
    int children;  // watch_children()
    channel::Window window;
};

// The launch of a real command: environment and directory of the context, the descriptor of its program.
base::Result<Launch> launch_of(const Context& context, std::string_view client,
                               const std::vector<std::string>& arguments);

base::Result<Captured> run_captured(const WorkerContext& worker, Launch launch, std::string_view input);
base::Result<Ending> run_relayed(const WorkerContext& worker, Launch launch,
                                 const Conversation::Relayed& how);
base::Result<Ending> run_held(const WorkerContext& worker, Launch launch,
                              const Conversation::Choose& variables_for);

class StubConversation final : public Conversation {
  public:
    StubConversation(const WorkerContext& worker, const Log& log, std::string command)
        : worker_(worker), log_(log), command_(std::move(command)) {}

    void out(std::string_view text) override;
    void err(std::string_view text) override;
    Ending deny(const Denial& denial) override;
    void record(std::string_view event, const std::map<std::string, std::string>& facts) override;
    base::Result<Captured> capture(std::string_view client, const std::vector<std::string>& arguments,
                                   std::string_view input) override;
    base::Result<Ending> relay(std::string_view client, const std::vector<std::string>& arguments,
                               const Relayed& how) override;
    base::Result<Ending> hold(std::string_view client, const std::vector<std::string>& arguments,
                              const Choose& variables_for) override;

  private:
    void say(channel::Type type, std::string_view text);

    const WorkerContext& worker_;
    const Log& log_;
    std::string command_;
};

}  // namespace slurm::chaperon
