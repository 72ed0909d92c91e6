// SPDX-License-Identifier: MIT
#include "slurm/chaperon/log.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/writer.h"
#include "base/encoding/codec.h"
#include "base/encoding/json.h"
#include "base/file.h"
#include "base/text.h"

namespace slurm::chaperon {
namespace {

constexpr size_t kLongestText = 512;
constexpr off_t kLargestLog = 16 << 20;
constexpr size_t kShown = 1u << 20;

std::string cut(std::string_view untrusted) {
    bool is_cut = untrusted.size() > kLongestText;
    return base::printable(untrusted.substr(0, kLongestText)) + (is_cut ? "..." : "");
}

base::Fd open_to_append(const std::string& path) {
    return base::Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
}

}  // namespace

void Log::write(std::string_view command, std::string_view event,
                const std::map<std::string, std::string>& facts) const {
    if (desk_ >= 0) hand_on(desk_, command, event, facts);
    if (path_.empty()) return;
    base::Json line = base::Json::object();
    line.set("time", audit::time_text()).set("command", cut(command)).set("event", cut(event));
    for (const auto& [key, value] : facts) line.set(cut(key), cut(value));
    base::Fd file = open_to_append(path_);
    if (!file && errno == ENOENT && base::make_directories(path_.substr(0, path_.rfind('/'))).ok())
        file = open_to_append(path_);
    struct stat facts_of_file;
    if (!file || ::fstat(file.get(), &facts_of_file) != 0 || !S_ISREG(facts_of_file.st_mode) ||
        facts_of_file.st_size > kLargestLog)
        return;
    // One call per line, because workers write at the same time.
    std::string text = line.dump(-1) + "\n";
    (void)!::write(file.get(), text.data(), text.size());
}

std::string Log::text() const {
    base::Fd file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts;
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return "";
    std::string text(std::min(kShown, static_cast<size_t>(facts.st_size)), '\0');
    const bool is_whole = text.size() == static_cast<size_t>(facts.st_size);
    ssize_t count =
        ::pread(file.get(), text.data(), text.size(), facts.st_size - static_cast<off_t>(text.size()));
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    if (!is_whole) text.erase(0, text.find('\n') + 1);
    return text;
}

// Threat: a worker parses bytes from the jail, so an attacker may control it. A note is short, its verdict is
// one of two, and the writer escapes the rest. The worst result is a false line about its own calls.
// (tests/slurm_chaperon/record_test.cc)

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
