// SPDX-License-Identifier: MIT
#include "session/control/history.h"

#include <unistd.h>

#include "audit/secrets.h"
#include "base/backend.h"
#include "plan/print/own_sandbox.h"
#include "session/control/published_ports.h"
#include "session/control/session_directory.h"

namespace session {
namespace {

std::string_view reason_of(LateFinding::Kind kind) {
    switch (kind) {
        case LateFinding::Kind::masked:
            return "the search for files to mask reached it after the start";
        case LateFinding::Kind::appeared:
            return "it appeared after the start";
        case LateFinding::Kind::repository:
            return "the search for repositories reached it after the start";
        case LateFinding::Kind::closed:
            return "it could not be searched, or not covered file by file";
        case LateFinding::Kind::replaced:
            return "it was replaced outside while the jail ran";
        case LateFinding::Kind::open:
            return "it could not be covered";
        case LateFinding::Kind::held:
            return "a process had it open when it was made read-only, and was killed";
    }
    return "";
}

void add_head(audit::Line& line, std::string_view writer, const audit::Head& head) {
    if (head.lines == 0) return;
    line.begin_object(writer).number("lines", head.lines).text("hash", head.hash).end_object();
}

}  // namespace

base::Json description_of(const plan::Plan& plan, const SessionOptions& options) {
    base::Json words = base::Json::array();
    for (const std::string& word : audit::without_secrets(plan.command)) words.push(word);
    base::Json description = base::Json::object();
    description.set("version", options.version).set("command", std::move(words));
    description.set("directory", plan.working_directory.str()).set("project", plan.project.str());
    description.set("backend", base::to_text(plan.backend))
        .set("network", policy::to_text(plan.network.reached));
    description.set("agent", plan.agent);
    const std::vector<network::Published>& ports = plan.network.egress.published;
    if (!ports.empty()) description.set("published", json_of(ports));
    if (!options.job.empty()) description.set("job", options.job);
    if (options.layer)
        description.set("layer", options.layer->about.title()).set("layer_files", options.layer->upper());
    return description;
}

void record_start(audit::Writer& record, const plan::Plan& plan, const SessionOptions& options,
                  const std::string& policy) {
    if (!record) return;
    audit::Line line("start");
    line.text("session", options.session).text("version", options.version);
    line.texts("command", audit::without_secrets(plan.command));
    line.path("directory", plan.working_directory.str()).path("project", plan.project.str());
    line.text("backend", base::to_text(plan.backend)).text("agent", plan.agent);
    line.text("network", policy::to_text(plan.network.reached));
    line.text("asked", policy::to_text(plan.network.asked)).text("policy", policy);
    line.begin_object("levels");
    for (const plan::Control& control : plan.controls)
        line.text(control.name, policy::to_text(control.level));
    line.end_object();
    line.number("pid", static_cast<uint64_t>(::getpid())).text("host", host_name());
    line.text("job", options.job).truth("traces_files", plan.trace.files);
    if (options.layer) line.text("layer", options.layer->about.title());
    record.write(std::move(line));
}

void record_held(audit::Writer& record, const BareName& name) {
    if (!record) return;
    audit::Line line("cover");
    line.path("path", name.path.str()).text("cause", "opened inside").text("reason", name.detail);
    record.write(std::move(line));
}

void record_git(audit::Writer& record, const GitVerdict& verdict) {
    if (!record) return;
    if (verdict.is_file) {
        audit::Line line("file");
        line.text("verdict", "deny").path("path", verdict.path.str()).text("access", "write");
        line.text("reason", verdict.why);
        record.write(std::move(line));
        return;
    }
    audit::Line line("git");
    line.text("verdict", verdict.is_accepted ? "allow" : "deny").path("path", verdict.path.str());
    line.text("name", verdict.key);
    if (verdict.line != 0) line.number("row", verdict.line);
    line.text("reason", verdict.why);
    record.write(std::move(line));
}

void record_refused_program(audit::Writer& record, const std::string& program) {
    if (!record) return;
    const plan::RefusedNamespaces refused = plan::refused_namespaces(program);
    audit::Line line("namespace");
    line.text("verdict", "deny").text("name", program).text("reason", refused.reason);
    line.text("change", refused.change);
    record.write(std::move(line));
}

void record_uncovered(audit::Writer& record, const std::vector<backends::Uncovered>& uncovered) {
    if (!record) return;
    for (const backends::Uncovered& one : uncovered) {
        audit::Line line("cover");
        line.path("path", one.path.str()).text("cause", one.is_covered_again ? "covered again" : "left open");
        line.text("reason", "it was replaced or removed outside while the jail ran");
        record.write(std::move(line));
    }
}

void record_moved(audit::Writer& record, const std::vector<MovedName>& moved) {
    if (!record) return;
    for (const MovedName& one : moved) {
        audit::Line line("cover");
        line.path("path", one.path.str()).text("cause", one.is_left ? "not moved" : "moved away");
        line.text("reason", one.problem.empty() ? one.why : one.problem).path("place", one.place.str());
        record.write(std::move(line));
    }
}

void record_unwatched(audit::Writer& record, const base::Path& project) {
    if (!record) return;
    audit::Line line("cover");
    line.path("path", project.str()).text("cause", "not watched").text("reason", kUnwatched);
    record.write(std::move(line));
}

void record_lost_reports(audit::Writer& record, const base::Path& project, std::string_view reason) {
    if (!record) return;
    audit::Line line("cover");
    line.path("path", project.str()).text("cause", "not guarded to the end");
    line.text("reason", "the process that covers names again " + std::string(reason));
    record.write(std::move(line));
}

void record_search(audit::Writer& record, const SearchProgress::Report& search) {
    if (!record) return;
    for (const LateFinding& finding : search.findings) {
        audit::Line line("cover");
        bool is_open = finding.kind == LateFinding::Kind::open;
        line.path("path", finding.path.str()).text("cause", is_open ? "left open" : "covered late");
        line.text("reason", reason_of(finding.kind));
        line.number("after_ms", static_cast<uint64_t>(finding.after.count()));
        record.write(std::move(line));
    }
}

void record_end(audit::Writer& record, const base::Result<Ending>& ending, const Helpers& helpers,
                std::chrono::milliseconds duration) {
    if (!record) return;
    audit::Line line("end");
    if (ending) {
        line.number("status", static_cast<uint64_t>(ending->exit_code));
        if (ending->by_signal) line.number("signal", static_cast<uint64_t>(ending->exit_code - kSignalBase));
        line.text("reason", ending->reason);
    } else {
        line.text("reason", ending.error().line());
    }
    line.number("duration_ms", static_cast<uint64_t>(duration.count()));
    if (ending) {
        line.begin_object("refused").number("network", ending->network.refused);
        line.number("files", ending->trace.files).number("system_calls", ending->trace.system_calls);
        line.number("mail", ending->refused_mails).end_object();
    }
    if (record.lost() > 0) line.number("lost", record.lost());
    if (!record.head().hash.empty()) {
        line.begin_object("writers");
        add_head(line, "gateway", helpers.gateway);
        add_head(line, "tracer", helpers.tracer);
        line.end_object();
    }
    record.write(std::move(line));
}

}  // namespace session
