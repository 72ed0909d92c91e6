// SPDX-License-Identifier: MIT
#include "tracer/record.h"

#include <sys/wait.h>

#include <algorithm>

#include "audit/secrets.h"
#include "base/encoding/codec.h"

template <>
inline constexpr auto base::kFields<tracer::Summary> = std::tuple(&tracer::Summary::files,
                                                                  &tracer::Summary::system_calls,
                                                                  &tracer::Summary::commands,
                                                                  &tracer::Summary::lines,
                                                                  &tracer::Summary::hash);

namespace tracer {
namespace {

constexpr std::string_view kSummary = "summary";
constexpr std::string_view kFailed = "failed";

template <typename Type>
std::optional<Type> decode(std::string_view name, std::string_view note) {
    Type value;
    bool is_well = base::decode_message(name, note, value) == base::Decoded::well;
    return is_well ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string encode(const Summary& summary) {
    return base::encode_message(kSummary, summary);
}

std::optional<Summary> decode_summary(std::string_view note) {
    return decode<Summary>(kSummary, note);
}

std::string encode_failure(std::string_view why) {
    return base::encode_message(kFailed, std::string(why));
}

std::optional<std::string> decode_failure(std::string_view note) {
    return decode<std::string>(kFailed, note);
}

End end_of(int wait_status) {
    if (WIFSIGNALED(wait_status)) return {End::Kind::killed, WTERMSIG(wait_status)};
    return {End::Kind::exited, WEXITSTATUS(wait_status)};
}

std::optional<Command> Commands::start(pid_t process, Command command) {
    std::optional<Command> former = take(process);
    running_.emplace(process, std::move(command));
    return former;
}

std::optional<Command> Commands::take(pid_t process) {
    auto found = running_.find(process);
    if (found == running_.end()) return std::nullopt;
    Command command = std::move(found->second);
    running_.erase(found);
    return command;
}

const Command* Commands::find(pid_t process) const {
    auto found = running_.find(process);
    return found == running_.end() ? nullptr : &found->second;
}

std::vector<pid_t> Commands::processes() const {
    std::vector<pid_t> all;
    all.reserve(running_.size());
    for (const auto& [process, command] : running_) all.push_back(process);
    return all;
}

void Record::note(const std::string& reason) {
    writer_.write(std::move(audit::Line("journal").text("reason", reason)));
}

void Record::add(const ClosedFile& file) {
    std::string_view access = file.is_write ? "write" : "read";
    std::string key = file.path + '\0' + std::string(access);
    if (files_.contains(key)) return;
    if (files_.size() >= kMostFiles) {
        if (!has_too_many_files_)
            note("more than " + std::to_string(kMostFiles) + " files were closed: further ones are not told");
        has_too_many_files_ = true;
        return;
    }
    files_.insert(std::move(key));
    ++summary_.files;
    writer_.write(std::move(audit::Line("file")
                                .text("verdict", "deny")
                                .path("path", file.path)
                                .text("access", access)
                                .text("cause", file.cause)
                                .path("rule", file.rule)
                                .path("origin", file.origin)
                                .path("reason", file.reason)
                                .path("change", file.change)));
}

void Record::add(pid_t process, const Command& command, const End& end, Clock::time_point now) {
    if (command_lines_ >= kMostCommands) {
        if (command_lines_++ == kMostCommands)
            note("more than " + std::to_string(kMostCommands) +
                 " commands were started: further ones are not told");
        return;
    }
    ++command_lines_;
    audit::Line line("command");
    line.texts("command", audit::without_secrets(command.words))
        .path("directory", command.directory)
        .number("pid", static_cast<uint64_t>(process));
    switch (end.kind) {
        case End::Kind::exited:
            line.number("status", static_cast<uint64_t>(end.number));
            break;
        case End::Kind::killed:
            line.number("signal", static_cast<uint64_t>(end.number));
            break;
        case End::Kind::replaced:
            line.truth("replaced", true);
            break;
        case End::Kind::running:
        case End::Kind::unknown:
            break;
    }
    auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(now - command.started);
    line.number("duration_ms", static_cast<uint64_t>(duration.count()));
    writer_.write(std::move(line));
}

void Record::add_refused(const std::string& name, int error) {
    ++summary_.system_calls;
    Refused refused{name, error};
    if (++refused_[refused] == 1) write_refused(refused, 1);
}

void Record::write_refused(const Refused& refused, uint64_t count) {
    std::vector<const seccomp::Row*> rows = seccomp::rows_for(refused.name);
    auto row = std::ranges::find_if(rows, [&](const seccomp::Row* one) {
        return one->error == refused.error && !switches_.lifts(one->lifted_by);
    });
    std::string reason, change;
    if (row != rows.end()) {
        reason = (*row)->reason;
        if (!(*row)->when.empty()) reason += " (" + std::string((*row)->when) + ")";
        std::string_view setting = seccomp::setting_of((*row)->lifted_by);
        if (!setting.empty()) change = std::string(setting) + " = true";
    }
    writer_.write(std::move(audit::Line("syscall")
                                .text("verdict", "deny")
                                .text("name", refused.name)
                                .text("error", seccomp::error_name(refused.error))
                                .text("reason", reason)
                                .text("change", change)
                                .number("count", count)));
}

void Record::finish() {
    for (const auto& [refused, count] : refused_) {
        if (count > 1) write_refused(refused, count);
    }
}

Summary Record::summary() const {
    Summary summary = summary_;
    summary.lines = writer_.head().lines;
    summary.hash = writer_.head().hash;
    return summary;
}

}  // namespace tracer
