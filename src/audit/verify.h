// SPDX-License-Identifier: MIT
// Checks whether a record is unchanged since it was written (writer.h). It detects lines that were altered,
// removed, inserted or moved, unless the attacker rewrote the whole record. There is no key: an attacker who
// can replace the whole record can make a valid chain, and only a head that was stored elsewhere reveals
// this. The same is true for the last line, because no later line contains its hash.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "audit/writer.h"
#include "base/encoding/json.h"
#include "base/result.h"

namespace audit {

struct Verification {
    enum class Outcome {
        intact,
        unfinished,  // valid so far; the session's end is missing
        broken,
        unchained,  // the record was made without a chain
    };

    Outcome outcome = Outcome::unchained;
    std::string where;           // file:line of the first bad line; empty: the record as a whole
    std::string problem;         // for a broken record
    uint64_t lines = 0;          // checked lines
    uint64_t damaged = 0;        // unreadable, but missing in no chain: from a full disk
    uint64_t dropped_parts = 0;  // as the record itself reports
    uint64_t lost = 0;           // lines that could not be written, as the record itself reports
    // For an unfinished record: the caller sets this if the session still runs, so that the end is not
    // written yet.
    bool is_running = false;
    std::map<std::string, Head> heads;  // of each writer, at its last line
    std::vector<std::string> unnamed;   // writers whose last lines can't be checked
};

base::Result<Verification> verify(const std::string& first_part);

// The writer of the commands that apply, undo or discard a layer, which run after the session.
inline constexpr std::string_view kLayersWriter = "layers";

// Where a later process of this writer continues: the newest part of the record, and the end of its chain.
// Without a hash the record has no chain.
struct LastLine {
    std::string file;
    Head head;
};
base::Result<LastLine> last_line_of(const std::string& first_part, std::string_view writer);

// Whether the record is valid: intact, or of a session that still runs.
bool holds(const Verification& verification);

std::string to_text(const Verification& verification);
base::Json to_json(const Verification& verification);

}  // namespace audit
