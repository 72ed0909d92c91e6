// SPDX-License-Identifier: MIT
// Refusals and submissions for the session's record. Workers send notes to the server (serve.h), the only
// process that writes lines (audit/writer.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "audit/writer.h"

namespace slurm::chaperon {

// In a worker: sends an event of its log, if the record contains such events.
void hand_on(int desk, std::string_view command, std::string_view event,
             const std::map<std::string, std::string>& facts);

// In the server: writes all notes that have arrived.
void write_notes(int notes, audit::Writer& record);

}  // namespace slurm::chaperon
