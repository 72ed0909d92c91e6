// SPDX-License-Identifier: MIT
#include "cli/mcp/work.h"

#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/mcp/changes.h"
#include "cli/mcp/inside.h"
#include "cli/mcp/jail_command.h"
#include "cli/sessions/exec_result.h"
#include "mcp/results.h"

namespace cli {
namespace {

// Of a path or verdict, which no command of the jail delays.
constexpr std::chrono::seconds kLongestAnswer{60};

std::vector<std::string> inside_command(const McpSession& session, std::vector<std::string> words) {
    std::vector<std::string> command = {session.inside, std::string(kMcpInsideRole)};
    command.insert(command.end(), words.begin(), words.end());
    return command;
}

bool is_about_command(const base::Error& error) {
    return error.exit_code == base::ExitCode::not_found || error.exit_code == base::ExitCode::not_executable;
}

// Why no result exists; empty: one does.
std::string obstacle_of(const JailCommand& command) {
    if (command.failure()) return base::printable(command.failure()->line());
    return command.ending().with_session ? "the session has ended, and the command with it" : "";
}

// ---- run

class RunWork : public McpWork {
  public:
    RunWork(const McpSession& session, mcp::RunCall call, std::function<void()> done)
        : session_(session),
          refused_(session.known, session.directories),
          command_(session.loop, session.known,
                   {.command = std::move(call.command),
                    .directory = std::move(call.directory),
                    .input = std::move(call.input),
                    .most_output = static_cast<size_t>(mcp::kMostOfOutput),
                    .keep = inside_command(session, {"keep"}),
                    .longest = std::chrono::seconds(call.timeout_s)},
                   std::move(done)) {}

    uint64_t bytes() const override { return command_.bytes(); }

    mcp::CallResult result() override {
        // A program that does not exist is for the model to see, as a shell would show it.
        const bool is_about_it = command_.failure() && is_about_command(*command_.failure());
        std::string obstacle = obstacle_of(command_);
        if (!obstacle.empty() && !is_about_it) return {.problem = std::move(obstacle)};
        base::BoundedText errors = command_.err();
        if (is_about_it) errors.add(obstacle + "\n");
        const int status =
            is_about_it ? static_cast<int>(command_.failure()->exit_code) : command_.ending().exit_code;
        // The gateway answers after it has written the lines of what it refused before.
        (void)session::ask_session(session_.known, base::Json::object().set("do", "status"));
        mcp::RunOutcome outcome{.out = stream_of(command_.out(), command_.kept_out()),
                                .err = stream_of(errors, command_.kept_err()),
                                .exit_status = status,
                                .has_timed_out = command_.has_timed_out(),
                                .refused = refused_.take()};
        return {.content = mcp::run_result(outcome), .problem = {}};
    }

  private:
    static mcp::StreamOutput stream_of(const base::BoundedText& text, const JailCommand* kept) {
        mcp::StreamOutput stream{.text = text, .file = {}, .problem = {}};
        if (kept == nullptr) return stream;
        stream.problem = obstacle_of(*kept);
        if (!stream.problem.empty()) return stream;
        const std::string output = kept->out().text(), errors = kept->err().text();
        const mcp::FromInside answer{
            .output = output, .errors = errors, .exit_status = kept->ending().exit_code};
        stream.file = mcp::kept_path(answer);
        if (stream.file.empty()) stream.problem = mcp::problem_in(answer);
        return stream;
    }

    const McpSession& session_;
    RefusedMeanwhile refused_;
    JailCommand command_;
};

// ---- read, write, why: one command of this program inside, and the meaning of its answer

class InsideWork : public McpWork {
  public:
    using Read = std::function<mcp::CallResult(const mcp::FromInside&)>;

    InsideWork(const McpSession& session, std::vector<std::string> command, std::string input, Read read,
               std::function<void()> done)
        : read_(std::move(read)),
          command_(session.loop, session.known,
                   {.command = std::move(command),
                    .input = std::move(input),
                    .most_output = mcp::kMostFromInside,
                    .longest = kLongestAnswer},
                   std::move(done)) {}

    uint64_t bytes() const override { return command_.bytes(); }

    mcp::CallResult result() override {
        if (std::string obstacle = obstacle_of(command_); !obstacle.empty())
            return {.problem = std::move(obstacle)};
        if (command_.has_timed_out()) return {.problem = "the jail did not answer in time"};
        if (command_.out().is_cut()) return {.problem = "the answer from inside the jail is too long"};
        const std::string output = command_.out().text(), errors = command_.err().text();
        return read_({.output = output, .errors = errors, .exit_status = command_.ending().exit_code});
    }

  private:
    Read read_;
    JailCommand command_;
};

struct Starter {
    const McpSession& session;
    std::function<void()> done;

    std::unique_ptr<McpWork> operator()(mcp::RunCall call) {
        return std::make_unique<RunWork>(session, std::move(call), std::move(done));
    }
    std::unique_ptr<McpWork> operator()(mcp::ReadCall call) {
        std::vector<std::string> command = inside_command(
            session, {"read", call.path, std::to_string(call.offset), std::to_string(call.length)});
        auto read = [call = std::move(call)](const mcp::FromInside& answer) {
            return mcp::read_result(call, answer);
        };
        return std::make_unique<InsideWork>(session, std::move(command), "", std::move(read),
                                            std::move(done));
    }
    std::unique_ptr<McpWork> operator()(mcp::WriteCall call) {
        std::vector<std::string> command = inside_command(session, {"write", call.mode, call.path});
        std::string input = call.content;
        auto read = [call = std::move(call)](const mcp::FromInside& answer) {
            return mcp::write_result(call, answer);
        };
        return std::make_unique<InsideWork>(session, std::move(command), std::move(input), std::move(read),
                                            std::move(done));
    }
    std::unique_ptr<McpWork> operator()(const mcp::WhyCall& call) {
        std::vector<std::string> command = {session.inside, "why", "--json"};
        if (call.is_write) command.emplace_back("--write");
        command.insert(command.end(), {call.subject, call.name});
        return std::make_unique<InsideWork>(session, std::move(command), "", mcp::why_result,
                                            std::move(done));
    }
    std::unique_ptr<McpWork> operator()(const mcp::ChangesCall& /*call*/) {
        return start_changes(session, std::move(done));
    }
};

}  // namespace

std::unique_ptr<McpWork> start_work(const McpSession& session, mcp::ToolCall call,
                                    std::function<void()> done) {
    return std::visit(Starter{session, std::move(done)}, std::move(call));
}

}  // namespace cli
