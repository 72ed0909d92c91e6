// SPDX-License-Identifier: MIT
#include "plan/system/limits.h"

#include <algorithm>

#include "base/text.h"
#include "config/settings.h"
#include "plan/draft.h"

namespace plan {
namespace {

constexpr NamedLimit kLimits[] = {
    {"limits.processes", &Limits::processes, "no further process or thread can be made"},
    {"limits.memory", &Limits::memory, "the jail is ended, exit code 137"},
    {"limits.open_files", &Limits::open_files, "a process can open no further file"},
    {"limits.file_size", &Limits::file_size, "no file can grow further"},
    {"limits.wall_time", &Limits::wall_time, "the jail is ended, exit code 124"},
    {"limits.idle_time", &Limits::idle_time, "the jail is ended, exit code 124"},
};

struct Unit {
    uint64_t factor;
    std::string_view suffix;
};
constexpr Unit kSizes[] = {
    {1ULL << 40, "T"}, {1ULL << 30, "G"}, {1ULL << 20, "M"}, {1ULL << 10, "K"}, {1, ""}};
constexpr Unit kDurations[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
constexpr Unit kCounts[] = {{1, ""}};

std::span<const Unit> units_of(std::string_view key) {
    config::Type type = config::find_setting(key)->type;
    if (type == config::Type::size) return kSizes;
    if (type == config::Type::duration) return kDurations;
    return kCounts;
}

}  // namespace

std::span<const NamedLimit> named_limits() {
    return kLimits;
}

const NamedLimit& limit_named(std::string_view key) {
    return *std::ranges::find(kLimits, key, &NamedLimit::key);
}

std::string limit_text(const NamedLimit& named, const Limits& limits) {
    uint64_t value = (limits.*named.field).value;
    std::span<const Unit> units = units_of(named.key);
    auto unit = std::ranges::find_if(units, [&](const Unit& row) { return value % row.factor == 0; });
    return std::to_string(value / unit->factor) + std::string(unit->suffix);
}

std::string reached_text(const NamedLimit& named, const Limits& limits) {
    return base::format("{} = {} was reached ({})", named.key, limit_text(named, limits),
                        (limits.*named.field).origin.describe());
}

void set_limits(Draft& draft) {
    const auto& asked = draft.policy().limits;
    draft.plan.limits = {.processes = asked.processes,
                         .memory = asked.memory,
                         .open_files = asked.open_files,
                         .file_size = asked.file_size,
                         .wall_time = asked.wall_time,
                         .idle_time = asked.idle_time};
    // The kernel exempts root from RLIMIT_NPROC; only a control group could limit root.
    if (asked.processes.value > 0 && draft.inputs.facts.identity.uid == 0) {
        draft.note(NoteKind::protection, "limits.processes may not hold for root; run as an ordinary user");
    }
}

}  // namespace plan
