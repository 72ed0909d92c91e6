// SPDX-License-Identifier: MIT
// Whether a record is as it was written (writer.h). What this shows: no line was altered, removed, put in or
// moved by somebody who could not write the whole record anew. There is no key: who can replace all of it can
// make a chain that holds, and only a head that was noted elsewhere tells.
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
    std::map<std::string, Head> heads;  // of each writer, as far as the lines go
    std::vector<std::string> unnamed;   // writers whose last line the end does not name
};

base::Result<Verification> verify(const std::string& first_part);

std::string to_text(const Verification& verification);
base::Json to_json(const Verification& verification);

}  // namespace audit
