// SPDX-License-Identifier: MIT
// Sends reports to the supervisor (messages.h).
#pragma once

#include <string_view>

#include "inner/launch_spec.h"
#include "inner/messages.h"

namespace inner {

void send_report(const Orders& orders, const Report& report);

// The same with a descriptor; zero or an errno.
int send_report_with(const Orders& orders, const Report& report, int descriptor);

// Reports which step failed on what. Returns the exit status for a stage that ends because of it.
int report_failure(const Orders& orders, std::string_view step, std::string_view object, int number);

}  // namespace inner
