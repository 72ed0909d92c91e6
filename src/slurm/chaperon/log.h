// SPDX-License-Identifier: MIT
// The calls and their results, one JSON object per line. The file is outside the jail. Text from the jail is
// escaped and truncated before it is written.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "audit/writer.h"

namespace slurm::chaperon {

// If the disk is full, the line is lost, but not the request.
class Log {
  public:
    explicit Log(std::string path) : path_(std::move(path)) {}

    // The socket for notes to the session's record. The caller keeps the descriptor.
    void hand_on_to(int desk) { desk_ = desk; }

    void write(std::string_view command, std::string_view event,
               const std::map<std::string, std::string>& facts = {}) const;
    // The newest part of the log, in whole lines.
    std::string text() const;

  private:
    std::string path_;
    int desk_ = -1;
};

// Refusals and submissions for the session's record. Workers send notes to the server (serve.h), the only
// process that writes lines (audit/writer.h).

// In a worker: sends an event of its log, if the record contains such events.
void hand_on(int desk, std::string_view command, std::string_view event,
             const std::map<std::string, std::string>& facts);

// In the server: writes all notes that have arrived.
void write_notes(int notes, audit::Writer& record);

}  // namespace slurm::chaperon
