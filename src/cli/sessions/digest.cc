// SPDX-License-Identifier: MIT
// `digest`: lists refusals by cause, each with the change that would allow it.
#include "cli/sessions/digest.h"

#include "audit/digest.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/sessions/records.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"

namespace cli {
namespace {

constexpr size_t kMostAtTheEnd = 10;  // plus one line before and one after
constexpr size_t kAll = 10'000;

std::string marks_path(const std::string& state_directory) {
    return state_directory + "/not-needed";
}

struct Made {
    audit::Digest digest;
    std::vector<std::string> sessions;
};

base::Result<Made> make_digest(const DigestRequest& request) {
    audit::Gathering gathering(request.directories);
    if (base::Status added = gathering.add_record(request.record); !added) return added.error();
    base::Result<audit::NotNeeded> marks = audit::NotNeeded::read(marks_path(request.state_directory));
    if (!marks) return marks.error();
    Made made{.sessions = gathering.sessions()};
    made.digest = std::move(gathering).finish(*marks);
    return made;
}

std::string to_text(const audit::Digest& digest) {
    std::string text;
    for (const std::string& line : audit::to_lines(digest, kAll)) text += line + "\n";
    return text.empty() ? "nothing was refused\n" : text;
}

// Marks are stored per project, because another project may need the same thing.
int mark(const Invocation& call, const Workspace& workspace) {
    std::string path = marks_path(workspace.files.state_directory);
    base::Result<audit::NotNeeded> marks = audit::NotNeeded::read(path);
    if (!marks) return call.output.fail(marks.error());
    const std::string project = workspace.physical_project.str();
    std::string text;
    for (const auto& [option, what] : call.arguments.own_values) {
        bool is_mark = option == "--not-needed";
        bool is_new = is_mark ? marks->add(project, "", what) : marks->remove(project, what);
        text += base::format("{}{} in {}\n", base::printable(what),
                             is_mark  ? " is marked as not needed"
                             : is_new ? " is needed again"
                                      : " was not marked",
                             base::printable(project));
    }
    if (base::Status written = marks->write(path); !written) return call.output.fail(written.error());
    return call.output.result(text);
}

}  // namespace

void tell_digest(const Output& output, const DigestRequest& request) {
    base::Result<Made> made = make_digest(request);
    if (!made) return output.detail(made.error().line());
    if (made->digest.total == 0) return;
    std::string counts = audit::counts_of(made->digest);
    output.information(base::format("refused: {}; agent-sandbox digest shows all",
                                    counts.empty() ? "nothing that is needed" : counts));
    for (const std::string& line : audit::to_lines(made->digest, kMostAtTheEnd))
        output.information("  " + line);
}

int digest_verb(const Invocation& call) {
    if (call.arguments.words.size() > 1) return wrong_words(call, "digest takes one session");
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    std::string session = call.arguments.words.empty() ? "" : call.arguments.words[0];
    bool is_marking = !call.arguments.own_values.empty();
    if (is_marking && !session.empty()) return wrong_words(call, "marks are about a project, not a session");
    base::Result<audit::RecordFile> record = record_of(call, *workspace, session);
    if (is_marking && (record || record.error().exit_code != base::ExitCode::usage))
        return mark(call, *workspace);
    if (!record) return call.output.fail(record.error());
    base::Result<Made> made =
        make_digest({record->path, workspace->files.state_directory, user_directories_of(*workspace)});
    if (!made) return call.output.fail(made.error());
    if (call.arguments.wants_json)
        return call.output.result(audit::to_json(made->digest, made->sessions).dump() + "\n");
    return call.output.result(to_text(made->digest));
}

}  // namespace cli
