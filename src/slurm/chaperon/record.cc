// SPDX-License-Identifier: MIT
// Threat: a worker parses bytes from the jail, so an attacker may control it. A note is short, its verdict is
// one of two, and the writer escapes the rest. The worst result is a false line about its own calls.
// (tests/slurm_chaperon/record_test.cc)
#include "slurm/chaperon/record.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/encoding/codec.h"
#include "base/format.h"

namespace slurm::chaperon {

// What a worker hands on.
struct CallNote {
    std::string verdict, command, option, reason;
};

}  // namespace slurm::chaperon

template <>
inline constexpr auto base::kFields<slurm::chaperon::CallNote> =
    std::tuple(&slurm::chaperon::CallNote::verdict, &slurm::chaperon::CallNote::command,
               &slurm::chaperon::CallNote::option, &slurm::chaperon::CallNote::reason);

namespace slurm::chaperon {
namespace {

constexpr size_t kLongestField = 512;
constexpr std::string_view kCall = "call";
constexpr size_t kLongestNote = 5 * (kLongestField + 1);
constexpr int kMostAtOnce = 64;          // then the caller continues
constexpr uint64_t kMostLines = 50'000;  // repeated refused calls must not fill a disk

// Events of the log that also go to the record.
struct Row {
    std::string_view event;
    std::string_view verdict;
};
constexpr Row kRows[] = {
    {"denied", "deny"}, {"refused", "deny"},     {"submitted", "allow"},
    {"step", "allow"},  {"allocation", "allow"},
};

std::string fact(const std::map<std::string, std::string>& facts, const char* key) {
    auto found = facts.find(key);
    return found == facts.end() ? std::string() : found->second;
}

// The option that a refusal is about, as in "--uid: jobs run as yourself".
std::string_view option_in(std::string_view what) {
    if (!what.starts_with('-')) return {};
    return what.substr(0, what.find_first_of(": "));
}

std::string reason_of(const std::map<std::string, std::string>& facts) {
    std::string reason = fact(facts, "what");
    if (std::string code = fact(facts, "code"); !code.empty()) reason += base::format(" [{}]", code);
    if (std::string job = fact(facts, "job"); !job.empty()) reason += "job " + job;
    return reason;
}

void write_note(std::string_view note, audit::Writer& record) {
    CallNote call;
    bool is_well = base::decode_message(kCall, note, call) == base::Decoded::well;
    if (!is_well || (call.verdict != "allow" && call.verdict != "deny")) return;
    if (record.head().lines >= kMostLines) {
        audit::Line line("journal");
        line.text("reason", "there are too many calls of Slurm's commands: the others are not recorded");
        record.write(std::move(line));
        return record.close();
    }
    audit::Line line("slurm");
    line.text("verdict", call.verdict)
        .text("command", call.command)
        .text("option", call.option)
        .text("reason", call.reason);
    record.write(std::move(line));
}

}  // namespace

void hand_on(int desk, std::string_view command, std::string_view event,
             const std::map<std::string, std::string>& facts) {
    const auto* row = std::ranges::find(kRows, event, &Row::event);
    if (row == std::end(kRows)) return;
    std::string what = fact(facts, "what");
    CallNote call{std::string(row->verdict), std::string(command), std::string(option_in(what)),
                  reason_of(facts)};
    for (std::string* field : {&call.command, &call.option, &call.reason}) {
        // Text after a NUL would become another field.
        field->resize(std::min({field->size(), field->find('\0'), kLongestField}));
    }
    std::string note = base::encode_message(kCall, call);
    while (::send(desk, note.data(), note.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

void write_notes(int notes, audit::Writer& record) {
    if (notes < 0) return;
    char note[kLongestNote + 1];
    for (int i = 0; i < kMostAtOnce; ++i) {
        ssize_t count = ::recv(notes, note, sizeof note, MSG_DONTWAIT);
        if (count < 0 && errno != EINTR) return;
        if (count < 0) continue;
        write_note({note, static_cast<size_t>(count)}, record);
    }
}

}  // namespace slurm::chaperon
