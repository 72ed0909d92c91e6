// SPDX-License-Identifier: MIT
#include "tracer/executions.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/process/pidfd.h"
#include "tracer/files.h"

namespace tracer {
namespace {

constexpr int kExecveatFlags = 4;  // its argument

std::optional<base::Path> executed_path(const Target& target, const seccomp::NamedPath& named) {
    std::optional<std::string> name = target.text(target.argument(named.path), kLongestPath);
    if (!name) return std::nullopt;
    if (name->empty()) {
        bool is_descriptor = named.directory >= 0 && target.argument(kExecveatFlags) & AT_EMPTY_PATH;
        return is_descriptor ? target.descriptor_path(static_cast<int>(target.argument(named.directory)))
                             : std::nullopt;
    }
    std::optional<base::Path> path = target.path(named.directory, named.path);
    bool can_be = path && (is_magic(*path) || target.can_execute(*path));
    return can_be ? path : std::nullopt;
}

}  // namespace

std::optional<SeenExecution> look_at_execution(const Target& target, const seccomp::ObservedCall& call) {
    std::optional<base::Path> path = executed_path(target, call.first);
    if (!path) return std::nullopt;
    std::optional<std::vector<std::string>> words = target.words(target.argument(call.first.path + 1));
    if (!words || !target.is_list(target.argument(call.first.path + 2))) return std::nullopt;
    if (words->empty()) words->push_back(path->str());
    pid_t process = target.process();
    if (process <= 0) return std::nullopt;
    base::Fd pidfd = base::open_pidfd(process);
    if (!pidfd) return std::nullopt;
    return SeenExecution{
        .process = process,
        .pidfd = std::move(pidfd),
        .command = {
            .words = *std::move(words), .directory = target.working_directory(), .started = Clock::now()}};
}

}  // namespace tracer
