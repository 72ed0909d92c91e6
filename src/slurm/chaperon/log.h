// SPDX-License-Identifier: MIT
// What was asked and what became of it, one JSON object a line. The file lies outside the jail; what comes
// from the jail is escaped and cut before it is written.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace slurm::chaperon {

// A disk that is full costs the line, never the request that it is about.
class Log {
  public:
    explicit Log(std::string path) : path_(std::move(path)) {}

    // Where workers hand on what the session's record is to have of it (record.h); the descriptor stays the
    // caller's.
    void hand_on_to(int desk) { desk_ = desk; }

    void write(std::string_view command, std::string_view event,
               const std::map<std::string, std::string>& facts = {}) const;
    // Its newest part, whole lines.
    std::string text() const;

  private:
    std::string path_;
    int desk_ = -1;
};

}  // namespace slurm::chaperon
