// SPDX-License-Identifier: MIT
// Whether a record is as it was written (writer.h). What this shows: no line was altered, removed, put in or
// moved by somebody who could not write the whole record anew. There is no key: who can replace all of it can
// make a chain that holds, and only a head that was noted elsewhere tells. The same goes for the last line:
// none comes after it that would hold its hash.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "audit/writer.h"
#include "base/json.h"
#include "base/result.h"

namespace audit {

struct Verification {
    enum class Outcome {
        intact,
        unfinished,  // in order as far as it goes; the session's end is not there
        broken,
        unchained,  // the record was made without a chain
    };

    Outcome outcome = Outcome::unchained;
    std::string where;           // file:line of the first bad line; empty: the record as a whole
    std::string problem;         // of a broken one
    uint64_t lines = 0;          // that were checked
    uint64_t damaged = 0;        // that can't be read and that no chain misses: of a disk that was full
    uint64_t dropped_parts = 0;  // as the record itself says
    uint64_t lost = 0;           // that could not be written, as the record itself says
    // Of an unfinished one, for who knows the sessions to set: it has no end yet.
    bool is_running = false;
    std::map<std::string, Head> heads;  // of each writer, as far as the lines go
    std::vector<std::string> unnamed;   // writers whose last lines can't be told to be there
};

base::Result<Verification> verify(const std::string& first_part);

// Whether all is as it should be: intact, or of a session that still runs.
bool holds(const Verification& verification);

std::string to_text(const Verification& verification);
base::Json to_json(const Verification& verification);

}  // namespace audit
