// SPDX-License-Identifier: MIT
// What `doctor` prints, for a person or as JSON. Pure: a test can be any machine.
#pragma once

#include <string>
#include <vector>

#include "base/encoding/json.h"
#include "host/doctor.h"
#include "plan/print/print.h"

namespace cli {

struct Examination {
    host::Facts facts;  // with the results of the trials
    std::vector<host::Finding> findings;
    std::vector<plan::Outlook> outlooks;
    bool has_settings = true;      // they can be read
    bool is_bwrap_pinned = false;  // isolation.bwrap is set: it is tried before all others

    // The backend that a launch uses when the user does not name one; null if no backend works.
    const plan::Outlook* chosen() const;
    // Inside a jail another one can't be built.
    bool is_usable() const { return has_settings && chosen() && facts.nested_in != "agent-sandbox"; }
};

Examination examine(const host::Facts& facts, const host::Trials& trials);

std::string report_text(const Examination& examination, bool is_coloured);
base::Json report_json(const Examination& examination);

}  // namespace cli
