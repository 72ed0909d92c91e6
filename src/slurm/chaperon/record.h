// SPDX-License-Identifier: MIT
// Refusals and submissions on their way to the session's record: workers send notes to the desk, which alone
// writes lines (audit/writer.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "audit/writer.h"

namespace slurm::chaperon {

// In a worker: an event of its log, where the record has such ones.
void hand_on(int desk, std::string_view command, std::string_view event,
             const std::map<std::string, std::string>& facts);

// At the desk: all that has come.
void write_notes(int notes, audit::Writer& record);

}  // namespace slurm::chaperon
