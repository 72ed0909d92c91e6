// SPDX-License-Identifier: MIT
// Keeps covered names covered while a jail runs, in the keeper's process. It covers names that became
// uncovered, kills processes of the jail that opened them meanwhile, and reports to the supervisor.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "session/guard/cover_watch.h"
#include "session/guard/git_settings.h"
#include "session/guard/placeholders.h"

namespace session {

// A name that was uncovered for a moment, as the keeper reports it.
struct BareName {
    base::Path path;  // outside
    bool is_covered_again = false;
    bool may_be_held = false;  // a process of the jail may still have it open
    std::string detail;        // what happened meanwhile; empty: nothing was seen
};

// One message of the keeper to the supervisor contains several names.
inline constexpr size_t kLongestReport = 16'384;
// The last message, without a name: no report follows.
inline constexpr std::string_view kNoMoreReports = ".";
std::string encode(const BareName& name);
std::vector<BareName> decode_bare_names(std::string_view bytes);

class CoverGuard {
  public:
    // `orders` were read before the command started; `socket` is connected to the supervisor.
    CoverGuard(CoverWatch& covers, Placeholders& placeholders, GitOrders orders, int socket);

    // Milliseconds until look() is due without an event; -1: never.
    int patience() const;
    // The watch has events.
    void take_events();
    // Call it when patience() has passed: makes removed placeholders again, and checks all names.
    void look();
    // The jail is dead: reports the events that are pending, then sends kNoMoreReports.
    void finish();

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::time_point kNever = Clock::time_point::max();

    void cover(std::set<base::Path> written);
    void report(std::vector<BareName> names, const std::set<base::Path>& written);
    bool is_worth_reporting(const BareName& name);

    CoverWatch& covers_;
    Placeholders& placeholders_;
    GitOrders orders_;
    int socket_;
    std::map<base::Path, int> reported_;  // how often each was reported with a detail
    std::set<std::string> told_;          // sent reports without a detail
    Clock::time_point renewal_ = kNever;  // of the placeholders
    bool is_jail_dead_ = false;
};

}  // namespace session
