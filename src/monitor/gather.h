// SPDX-License-Identifier: MIT
// Lists the sessions and requests the status of each, again and again.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/encoding/json.h"
#include "monitor/screen.h"
#include "session/control/known_sessions.h"

namespace monitor {

class Gatherer {
  public:
    // The places of session/directories.h. `patience`: how long one session may take to answer.
    Gatherer(std::vector<std::string> places, std::chrono::milliseconds patience)
        : places_(std::move(places)), patience_(patience) {}

    // Brings the screen up to date; the selected session stays selected for as long as it runs.
    void refresh(Screen& screen);

    // What `--json` prints: {"sessions":[…]}, each with its status.
    base::Json statuses();

    const std::vector<session::Known>& known() const { return known_; }

  private:
    Entry entry_for(const session::Known& known);

    std::vector<std::string> places_;
    std::chrono::milliseconds patience_;
    std::vector<session::Known> known_;
    // A session that did not answer is not asked again for some rounds: one that is stopped must not slow
    // down the screen.
    std::map<std::string, std::pair<int, std::string>> silent_;  // rounds to wait, and the problem
};

// "4f2a: 12 files written or deleted", of a session with a layer of changes; otherwise empty.
std::string layer_text(const base::Json& metadata);

// The recent refusals of a session, from the end of its record (docs/records.md).

// Newest first. `record` is the path of its first part; the newest part is read. Empty if it can't be read.
std::vector<base::Json> recent_refusals(const std::string& record, size_t most);

}  // namespace monitor
