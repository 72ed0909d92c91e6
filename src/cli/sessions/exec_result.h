// SPDX-License-Identifier: MIT
// The object that `exec --json` prints, and the refusals in it (docs/automation.md, docs/schemas/exec.json).
#pragma once

#include <optional>
#include <string>

#include "audit/digest.h"
#include "audit/reader.h"
#include "base/encoding/json.h"
#include "session/control/exec_client.h"
#include "session/control/known_sessions.h"

namespace cli {

// What the session refused while a command ran, to this or another of its processes: the lines that its
// record gets from the construction to take().
class RefusedMeanwhile {
  public:
    RefusedMeanwhile(const session::Known& known, audit::UserDirectories directories);

    // An array of entries as in `digest --json`; null: the session has no record that can be read.
    base::Json take();

  private:
    audit::UserDirectories directories_;
    std::optional<audit::Reader> reader_;
};

base::Json exec_result(const session::AddedEnding& ending, const session::CapturedOutput& output);

}  // namespace cli
