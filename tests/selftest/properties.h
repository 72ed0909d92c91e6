// SPDX-License-Identifier: MIT
// Properties of any line that a jail prints in place of a probe's report. Returns the claim that these bytes
// break, or null.
#pragma once

#include <string_view>

#include "base/text.h"
#include "selftest/runner.h"

namespace selftest {

inline const char* broken_for_report(std::string_view bytes) {
    base::Result<Report> report = decode(bytes);
    if (!report) return report.error().what.empty() ? "an error says what is wrong" : nullptr;
    if (report->probe.empty() || report->finding.detail.size() > 200)
        return "a report has a probe, and is short";
    std::string line = encode(*report);
    if (line.find('\n') != line.size() - 1) return "a report is one line";
    base::Result<Report> again = decode(line);
    if (!again || again->finding.kind != report->finding.kind) return "a report is the same after a journey";
    return nullptr;
}

}  // namespace selftest
