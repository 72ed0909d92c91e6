// SPDX-License-Identifier: MIT
// The record of a session: a file, or several parts of one, outside the jail. The supervisor and its helpers
// append to it. The first part, with the start of the session, always stays; of the others the newest ones
// stay.
//
//   STAMP-SESSION.jsonl   STAMP-SESSION.2.jsonl   STAMP-SESSION.3.jsonl …
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "audit/writer.h"
#include "base/file.h"
#include "base/result.h"

namespace session {

struct RecordSettings {
    bool is_wanted = false;
    bool is_required = false;  // by the administrator: no command runs without it
    bool is_chained = false;
    uint64_t size = 0;     // bytes, of all parts
    std::time_t keep = 0;  // seconds that records of ended sessions stay
};

class Record {
  public:
    Record() = default;

    // Makes the file in `directory`, and `directory` if it is missing.
    base::Status open(const std::string& directory, const std::string& session,
                      const RecordSettings& settings);
    bool is_open() const { return static_cast<bool>(writer_); }
    const std::string& path() const { return path_; }  // of the first part
    audit::Writer& writer() { return writer_; }

    // What a helper needs to append lines.
    struct Share {
        base::Fd file;
        bool is_chained = false;
        std::string seed;
        uint64_t part_size = 0;
    };
    Share share() const;

    // A part is full: makes the next one, which the supervisor writes to from now on, and returns it for a
    // helper. Removes the oldest part except the first if there are too many.
    base::Fd next_part();

  private:
    std::string part_path(unsigned number) const;

    std::string stem_;  // the path without ".jsonl"
    std::string path_;
    std::string session_;
    RecordSettings settings_;
    unsigned parts_ = 0;
    audit::Writer writer_;
};

// Removes records that are older than `keep`, at most once an hour for a directory. Nothing else is touched.
void remove_old_records(const std::string& directory, std::time_t keep, std::time_t now);

// Removes old logs of sessions, and files that a killed session left half written.

inline constexpr std::time_t kLongestKept = std::time_t{30} * 24 * 3600;  // seconds

// Removes the logs in this directory that were last written longer ago than that. Nothing else is touched.
void remove_old_logs(const std::string& directory, std::time_t longest, std::time_t now);
// The same for files whose writing began and never finished.
void remove_left_drafts(const std::string& directory, std::time_t now);

}  // namespace session
