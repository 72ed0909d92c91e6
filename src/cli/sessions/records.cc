// SPDX-License-Identifier: MIT
#include "cli/sessions/records.h"

#include "base/file.h"
#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "cli/arguments.h"

namespace cli {

std::string records_directory(const Workspace& workspace) {
    return workspace.files.state_directory + "/sessions";
}

base::Result<audit::RecordFile> record_of(const Invocation& call, std::string_view text) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return workspace.error();
    return record_of(call, *workspace, text);
}

base::Result<audit::RecordFile> record_of(const Invocation& call, const Workspace& workspace,
                                          std::string_view text) {
    if (base::file_exists(base::own_path(base::kOwnProgram))) {
        return base::Error{.what = "records of sessions are outside of the jail",
                           .advice = base::format("call {} in another terminal", call.arguments.verb),
                           .exit_code = base::ExitCode::usage};
    }
    if (text.find('/') == std::string_view::npos)
        return audit::find_record(records_directory(workspace), text);
    base::Result<base::Path> path = path_from(text, workspace.identity.home, call.caller.working_directory);
    if (!path) return path.error();
    return audit::find_record(records_directory(workspace), path->str());
}

// `project` is empty: the project of the record applies, not the current directory.
audit::UserDirectories user_directories_of(const Workspace& workspace) {
    return {.home = workspace.identity.home,
            .project = std::nullopt,
            .admin_directory = workspace.files.admin_directory};
}

}  // namespace cli
