// SPDX-License-Identifier: MIT
#include "cli/sessions/records.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "audit/digest.h"
#include "audit/show.h"
#include "audit/verify.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"

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

// `log`: prints what a session did, from its record.

namespace {

constexpr size_t kEnough = 64u << 10;
constexpr unsigned kLooksBetween = 5;

// Collects lines, so that each write is large.
class Printer {
  public:
    explicit Printer(const Invocation& call) : call_(call) {}

    // False: the reader has closed the output.
    bool print(const audit::Event& event) {
        if (call_.arguments.has_own("--denied") && !event.is_refusal()) return true;
        text_ +=
            call_.arguments.wants_json ? event.text : audit::to_line(event, call_.output.colours_results());
        text_ += '\n';
        return text_.size() < kEnough || flush();
    }
    bool flush() {
        if (!text_.empty()) code_ = call_.output.result(std::exchange(text_, {}));
        return code_ == 0;
    }
    int code() const { return code_; }

  private:
    const Invocation& call_;
    std::string text_;
    int code_ = 0;
};

void tell_passed_over(const Output& output, const audit::PassedOver& passed) {
    if (passed.damaged > 0) {
        output.warning(base::counted(passed.damaged, "damaged line was passed over, at ",
                                     "damaged lines were passed over, the first at ") +
                       passed.first_damaged);
    }
    if (passed.newer > 0) {
        output.warning(base::counted(passed.newer, "line of a newer version was passed over",
                                     "lines of a newer version were passed over"));
    }
    if (passed.missing_parts > 0) {
        output.warning(base::counted(passed.missing_parts, "part of the record is not there any more",
                                     "parts of the record are not there any more"));
    }
}

// Whether the session still runs. Checks only now and then, because this costs more than reading the file.
std::function<bool()> still_running(const Invocation& call, const std::string& session) {
    return [&call, session, looks = 0U]() mutable {
        if (looks++ % kLooksBetween != 0) return true;
        base::Result<Sessions> sessions = find_sessions(call);
        return sessions && std::ranges::count(sessions->known, session, &session::Known::id) > 0;
    };
}

int verify_record(const Invocation& call, const audit::RecordFile& record) {
    // Check this before reading the record: a session that ends in between counts as running.
    bool is_running = still_running(call, record.session)();
    base::Result<audit::Verification> result = audit::verify(record.path);
    if (!result) return call.output.fail(result.error());
    result->is_running = is_running;
    std::string text =
        call.arguments.wants_json ? audit::to_json(*result).dump() + "\n" : audit::to_text(*result);
    return call.output.result(text,
                              audit::holds(*result) ? 0 : static_cast<int>(base::ExitCode::check_failed));
}

}  // namespace

int log_verb(const Invocation& call) {
    if (call.arguments.words.size() > 1) return wrong_words(call, "log takes one session");
    base::Result<audit::RecordFile> record =
        record_of(call, call.arguments.words.empty() ? "" : call.arguments.words[0]);
    if (!record) return call.output.fail(record.error());
    if (call.arguments.has_own("--verify")) return verify_record(call, *record);

    audit::Reader reader(record->path);
    if (base::Status opened = reader.open(); !opened) return call.output.fail(opened.error());
    Printer printer(call);
    if (call.arguments.has_own("--follow")) {
        audit::follow(
            reader, [&](const audit::Event& event) { return printer.print(event) && printer.flush(); },
            still_running(call, record->session));
    } else {
        while (std::optional<audit::Event> event = reader.next()) {
            if (!printer.print(*event)) break;
        }
    }
    printer.flush();
    tell_passed_over(call.output, reader.passed_over());
    return printer.code();
}

// `digest`: lists refusals by cause, each with the change that would allow it.

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
    if (text.empty()) text = digest.lacks_files ? "no refusal was recorded\n" : "nothing was refused\n";
    bool has_files = std::ranges::any_of(
        digest.entries, [](const audit::DigestEntry& entry) { return entry.kind == "file"; });
    if (digest.lacks_files)
        text += base::format("{} access to files was not recorded: the session ran without --trace-files\n",
                             has_files ? "other refused" : "refused");
    return text;
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
    // The end of the session has a line for each of these.
    std::erase_if(made->digest.entries,
                  [](const audit::DigestEntry& entry) { return entry.kind == "namespace"; });
    if (made->digest.total == 0) return;
    std::string counts = audit::counts_of(made->digest);
    const std::string host = audit::last_refused_host(made->digest);
    output.information(base::format("refused: {}{}; agent-sandbox digest shows all",
                                    counts.empty() ? "nothing that is needed" : counts,
                                    host.empty() ? "" : ", last " + host));
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
