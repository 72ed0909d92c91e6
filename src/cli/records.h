// SPDX-License-Identifier: MIT
// What the verbs about records share: where those are, which one is meant, and what may be proposed here.
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
std::string records_directory(const Place& place);

// By a session's id, a beginning of it, "last" or nothing; a relative path is one of the caller's directory.
// Inside a jail: an error, which says that records are outside.
base::Result<audit::RecordFile> record_of(const Invocation& call, std::string_view text);
base::Result<audit::RecordFile> record_of(const Invocation& call, const Place& place, std::string_view text);

audit::Surroundings surroundings_of(const Place& place);

}  // namespace cli
