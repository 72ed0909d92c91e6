// SPDX-License-Identifier: MIT
#include "monitor/gather.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "layers/changes.h"
#include "session/control/known_sessions.h"

namespace monitor {
namespace {

constexpr int kRoundsOfSilence = 10;
constexpr size_t kMostRefusals = 50;

base::Json status_request() {
    return base::Json::object().set("do", "status");
}

constexpr size_t kMostLayerFiles = 10'000;

size_t layer_files_of(const base::Json& metadata) {
    return layers::count_files(metadata.text("layer_files"), kMostLayerFiles);
}

}  // namespace

std::string layer_text(const base::Json& metadata) {
    const std::string name = metadata.text("layer");
    if (name.empty()) return "";
    const size_t count = layer_files_of(metadata);
    return base::format("{}: {}{} written or deleted", base::printable(name),
                        count < kMostLayerFiles ? "" : "at least ", base::counted(count, "file", "files"));
}

Entry Gatherer::entry_for(const session::Known& known) {
    Entry entry{.id = known.id,
                .metadata = known.metadata,
                .is_elsewhere = known.state == session::Known::State::elsewhere};
    if (entry.is_elsewhere) return entry;
    auto silent = silent_.find(known.id);
    if (silent != silent_.end() && silent->second.first-- > 0) {
        entry.problem = silent->second.second;
        return entry;
    }
    base::Result<base::Json> status = session::ask_session(known, status_request(), patience_);
    if (status) {
        silent_.erase(known.id);
        entry.status = *std::move(status);
    } else {
        entry.problem = status.error().what;
        silent_[known.id] = {kRoundsOfSilence, entry.problem};
    }
    return entry;
}

void Gatherer::refresh(Screen& screen) {
    std::string selected = screen.selected < screen.entries.size() ? screen.entries[screen.selected].id : "";
    known_ = session::known_sessions(places_);
    std::erase_if(silent_, [this](const auto& row) {
        return std::ranges::find(known_, row.first, &session::Known::id) == known_.end();
    });
    screen.entries.clear();
    for (const session::Known& known : known_) screen.entries.push_back(entry_for(known));
    auto found = std::ranges::find(screen.entries, selected, &Entry::id);
    if (found != screen.entries.end()) {
        screen.selected = static_cast<size_t>(found - screen.entries.begin());
    } else if (screen.selected >= screen.entries.size()) {
        screen.selected = screen.entries.empty() ? 0 : screen.entries.size() - 1;
    }
    if (screen.entries.empty()) return;
    Entry& entry = screen.entries[screen.selected];
    if (entry.is_elsewhere) return;
    entry.layer = layer_text(entry.metadata);
    entry.refusals = recent_refusals(entry.metadata.text("log"), kMostRefusals);
}

base::Json Gatherer::statuses() {
    base::Json all = base::Json::array();
    for (const session::Known& known : session::known_sessions(places_)) {
        base::Json one = base::Json::object().set("session", known.metadata);
        if (known.state == session::Known::State::elsewhere) {
            one.set("state", "elsewhere");
        } else {
            one.set("state", "running");
            if (!known.metadata.text("layer").empty())
                one.set("layer_changes", layer_files_of(known.metadata));
            base::Result<base::Json> status = session::ask_session(known, status_request(), patience_);
            if (!status) one.set("error", status.error().line());
            if (status) {
                for (const auto& [key, value] : status->members()) {
                    if (key != "ok") one.set(key, value);
                }
            }
        }
        all.push(std::move(one));
    }
    return base::Json::object().set("sessions", std::move(all));
}

namespace {

constexpr std::string_view kEnding = ".jsonl";
constexpr off_t kTail = 64 << 10;  // some hundred lines

// STAMP-ID.jsonl is the first part, STAMP-ID.7.jsonl the seventh. Zero: not a part of this record.
unsigned part_number(std::string_view name, std::string_view stem) {
    if (!name.starts_with(stem) || !name.ends_with(kEnding)) return 0;
    if (name.size() == stem.size() + kEnding.size()) return 1;
    if (name.size() < stem.size() + kEnding.size() + 2 || name[stem.size()] != '.') return 0;
    std::string_view digits = name.substr(stem.size() + 1, name.size() - stem.size() - 1 - kEnding.size());
    return base::parse_number<unsigned>(digits).value_or(0);
}

base::Fd open_newest_part(const std::string& record) {
    size_t slash = record.rfind('/');
    if (slash == std::string::npos || !record.ends_with(kEnding)) return {};
    base::Fd directory(::open(record.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return {};
    std::string stem = record.substr(slash + 1, record.size() - slash - 1 - kEnding.size());
    std::string newest;
    unsigned highest = 0;
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        unsigned number = part_number(entry.d_name, stem);
        if (number > highest) {
            highest = number;
            newest = entry.d_name;
        }
        return true;
    });
    if (newest.empty()) return {};
    base::Fd file(
        ::openat(directory.get(), newest.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status;
    bool is_file = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    return is_file ? std::move(file) : base::Fd();
}

// The last complete lines.
std::string tail_of(int file) {
    struct stat status;
    if (::fstat(file, &status) != 0) return {};
    off_t from = std::max<off_t>(status.st_size - kTail, 0);
    std::string text(static_cast<size_t>(std::min<off_t>(status.st_size, kTail)), '\0');
    ssize_t got = ::pread(file, text.data(), text.size(), from);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (from > 0) text.erase(0, text.find('\n') == std::string::npos ? text.size() : text.find('\n') + 1);
    return text;
}

}  // namespace

std::vector<base::Json> recent_refusals(const std::string& record, size_t most) {
    std::vector<base::Json> refusals;
    base::Fd file = open_newest_part(record);
    if (!file) return refusals;
    std::string text = tail_of(file.get());
    std::vector<std::string_view> lines = base::split(text, '\n');
    for (auto line = lines.rbegin(); line != lines.rend() && refusals.size() < most; ++line) {
        // Most lines are about allowed connections: do not parse them.
        if (line->find("\"deny\"") == std::string_view::npos) continue;
        base::Result<base::Json> event = base::Json::parse(*line);
        // The answer to a question is followed by a separate line for the refusal.
        bool is_refusal = event && event->text("verdict") == "deny" && event->text("kind") != "answer";
        if (is_refusal) refusals.push_back(*std::move(event));
    }
    return refusals;
}

}  // namespace monitor
