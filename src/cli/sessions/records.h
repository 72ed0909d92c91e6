// SPDX-License-Identifier: MIT
// Shared by the verbs about records: the directory, the choice of a record, and the user's directories for
// proposals.
#pragma once

#include <string>
#include <string_view>

#include "audit/proposal.h"
#include "audit/reader.h"
#include "base/result.h"
#include "cli/context.h"
#include "cli/verbs.h"

namespace cli {

// $STATE/sessions
std::string records_directory(const Workspace& workspace);

// Finds a record by a session's id, a prefix of it, "last" or nothing; a relative path is relative to the
// caller's directory. Inside a jail it returns an error: records are outside.
base::Result<audit::RecordFile> record_of(const Invocation& call, std::string_view text);
base::Result<audit::RecordFile> record_of(const Invocation& call, const Workspace& workspace,
                                          std::string_view text);

audit::UserDirectories user_directories_of(const Workspace& workspace);

}  // namespace cli
