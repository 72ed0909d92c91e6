// SPDX-License-Identifier: MIT
#include "inner/report.h"

#include <sys/socket.h>

namespace inner {

void send_report(const Orders& orders, const Report& report) {
    std::string frame = encode(report);
    // MSG_NOSIGNAL: a supervisor that is gone is seen by the next read.
    (void)!::send(orders.control, frame.data(), frame.size(), MSG_NOSIGNAL);
}

int report_failure(const Orders& orders, std::string_view step, std::string_view object, int number) {
    send_report(orders, Report{.kind = Report::Kind::failed,
                               .number = number,
                               .step = std::string(step),
                               .object = std::string(object)});
    return static_cast<int>(base::ExitCode::jail_failed);
}

}  // namespace inner
