// SPDX-License-Identifier: MIT
// The verbs about records, `log` and `digest`, and the choice of a record.
#pragma once

#include <string>
#include <string_view>

#include "audit/proposal.h"
#include "audit/reader.h"
#include "base/result.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {

// Shared by the verbs about records: the directory, the choice of a record, and the user's directories for
// proposals.

// $STATE/sessions
std::string records_directory(const Workspace& workspace);

// Finds a record by a session's id, a prefix of it, "last" or nothing; a relative path is relative to the
// caller's directory. Inside a jail it returns an error: records are outside.
base::Result<audit::RecordFile> record_of(const Invocation& call, std::string_view text);
base::Result<audit::RecordFile> record_of(const Invocation& call, const Workspace& workspace,
                                          std::string_view text);

audit::UserDirectories user_directories_of(const Workspace& workspace);

struct DigestRequest {
    std::string record;           // the path of its first part
    std::string state_directory;  // has the marks of things that are not needed
    audit::UserDirectories directories;
};

// Prints the refusals at the end of a session, if there were any: at most twelve lines, each with the change
// that would allow it.
void tell_digest(const Output& output, const DigestRequest& request);

}  // namespace cli
