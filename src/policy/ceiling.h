// SPDX-License-Identifier: MIT
// The administrator's values as a ceiling over every other layer, and the check that an untrusted project's
// file only makes the policy stricter.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "policy/merge.h"

namespace policy {

class Ceiling {
  public:
    // `admin` contains only what the administrator wrote.
    Ceiling(const config::Values& admin, const PathMeaning& paths) : admin_(admin), paths_(paths) {}

    // Refuses a value that is wider than the administrator's. Removes single entries that the administrator's
    // lists block from `asked`, with a warning each, where the setting's order says so.
    base::Status hold(const config::Setting& setting, config::Value& asked,
                      std::vector<std::string>& warnings) const;

    // Whether an untrusted project may add this to the current values.
    base::Status check_narrows(const config::Setting& setting, const config::Value& asked,
                               const config::Value& current) const;

  private:
    base::Status hold_scalar(const config::Setting& setting, const config::Value& asked,
                             const config::Value& limit) const;
    base::Status hold_lock(const config::Setting& setting, const config::Value& asked) const;
    base::Status hold_parents(const config::Setting& setting, config::Value& asked,
                              std::vector<std::string>& warnings) const;
    base::Status hold_grants(const config::Setting& setting, config::Value& asked,
                             std::vector<std::string>& warnings) const;
    base::Status hold_writable(const config::Setting& setting, const config::Item& item) const;
    const config::Item* blocking_entry(const config::Setting& setting, const config::Item& item) const;
    const std::vector<config::Item>& admin_items(std::string_view key) const;

    const config::Values& admin_;
    const PathMeaning& paths_;
};

// Negative: `a` is less strict than `b`; positive: stricter. For scalars with an order.
int compare_strictness(const config::Setting& setting, std::string_view a, std::string_view b);

}  // namespace policy
