// SPDX-License-Identifier: MIT
// Telling the supervisor (messages.h).
#pragma once

#include <string_view>

#include "inner/messages.h"
#include "inner/orders.h"

namespace inner {

void send_report(const Orders& orders, const Report& report);

// Says which step failed on what; the exit status of a stage that ends because of it.
int report_failure(const Orders& orders, std::string_view step, std::string_view object, int number);

}  // namespace inner
