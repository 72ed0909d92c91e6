// SPDX-License-Identifier: MIT
#include "monitor/gather.h"

#include <algorithm>

#include "monitor/refusals.h"
#include "session/control/control_client.h"

namespace monitor {
namespace {

constexpr int kRoundsOfSilence = 10;
constexpr size_t kMostRefusals = 50;

base::Json status_request() {
    return base::Json::object().set("do", "status");
}

}  // namespace

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
    if (!entry.is_elsewhere) entry.refusals = recent_refusals(entry.metadata.text("log"), kMostRefusals);
}

base::Json Gatherer::statuses() {
    base::Json all = base::Json::array();
    for (const session::Known& known : session::known_sessions(places_)) {
        base::Json one = base::Json::object().set("session", known.metadata);
        if (known.state == session::Known::State::elsewhere) {
            one.set("state", "elsewhere");
        } else {
            one.set("state", "running");
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

}  // namespace monitor
