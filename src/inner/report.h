// SPDX-License-Identifier: MIT
// Sends reports to the supervisor (messages.h).
#pragma once

#include <span>
#include <string_view>

#include "inner/launch_spec.h"
#include "inner/messages.h"

namespace inner {

void send_report(const LaunchSpec& spec, const Report& report);

// The same with descriptors, at most kMostReported; zero or an errno.
inline constexpr size_t kMostReported = 2;
int send_report_with(const LaunchSpec& spec, const Report& report, std::span<const int> descriptors);

// Reports which step failed on what. Returns the exit status for a stage that ends because of it.
int report_failure(const LaunchSpec& spec, std::string_view step, std::string_view object, int number);

}  // namespace inner
