// SPDX-License-Identifier: MIT
// `inspect` and `monitor`: show running sessions.
#include <fcntl.h>
#include <unistd.h>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "monitor/cells.h"
#include "monitor/gather.h"
#include "monitor/monitor.h"
#include "monitor/screen.h"
#include "monitor/terminal.h"
#include "session/control/known_sessions.h"

namespace cli {

// `inspect SESSION`: combines its directory, its record and the session's own answer.

namespace {

using base::Json;
using base::Style;

struct Member {
    std::string_view key;
    std::string_view title;
};
constexpr Member kMembers[] = {
    {"directory", "directory"}, {"project", "project"}, {"agent", "agent"},
    {"backend", "backend"},     {"network", "network"}, {"started", "started"},
    {"host", "machine"},        {"log", "record"},      {"version", "version"},
};

// The first line of the record describes the start, with the levels that the jail reached.
Json levels_of(const std::string& record) {
    base::Fd file(::open(record.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    std::string text(64u << 10, '\0');
    ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
    if (got <= 0) return {};
    text.resize(static_cast<size_t>(got));
    base::Result<Json> start = Json::parse(text.substr(0, text.find('\n')));
    const Json* levels = start ? start->find("levels") : nullptr;
    return levels && start->text("kind") == "start" ? *levels : Json();
}

std::string printable_number(const Json& object, std::string_view key) {
    return std::to_string(object.number(key));
}

std::string age(const Json& object, std::string_view key) {
    return monitor::age_text(std::chrono::milliseconds(object.number(key)));
}

std::string target(const Json& object) {
    std::string name = object.text("name", object.text("address"));
    return base::in_brackets(base::printable(name)) + ":" + printable_number(object, "port");
}

class Page {
  public:
    explicit Page(bool is_coloured) : is_coloured_(is_coloured) {}

    void section(std::string_view title, const base::Table& table) {
        if (table.is_empty()) return;
        text_ += base::format("\n{}\n{}", base::styled(title, Style::bold, is_coloured_),
                              table.text(2, is_coloured_));
    }
    void line(const std::string& text) { text_ += text + "\n"; }
    void table(const base::Table& table) { text_ += table.text(2, is_coloured_); }
    std::string take() { return std::move(text_); }

  private:
    bool is_coloured_;
    std::string text_;
};

void add_status(Page& page, const Json& status) {
    base::Table limits, connections, questions, changes;
    for (const Json& limit : status.items("limits")) {
        int64_t used = limit.number("used", -1), value = limit.number("value");
        limits.add({{base::printable(limit.text("name"))},
                    {used >= 0 && value > 0 ? monitor::bar(used, value, 22) : ""},
                    {base::printable(monitor::limit_text(limit))}});
    }
    for (const Json& one : status.items("connections")) {
        connections.add({{target(one)},
                         {base::printable(one.text("protocol"))},
                         {monitor::bytes_text(one.number("sent")) + " sent"},
                         {monitor::bytes_text(one.number("received")) + " received"},
                         {age(one, "age_ms")}});
    }
    for (const Json& one : status.items("pending")) {
        questions.add({{"#" + printable_number(one, "id")},
                       {monitor::question_text(one)},
                       {"for " + age(one, "age_ms")},
                       {age(one, "left_ms") + " left"}});
    }
    for (const Json& one : status.items("live"))
        changes.add({{base::printable(one.text("action"))}, {base::printable(one.text("target"))}});
    base::Table commands;
    for (const Json& one : status.items("commands"))
        commands.add({{printable_number(one, "pid")},
                      {base::printable(one.text("command"))},
                      {"for " + age(one, "age_ms")}});
    page.section("Limits", limits);
    page.section("Commands of exec", commands);
    page.section(base::format("Connections ({})", printable_number(status, "connection_count")), connections);
    base::Table requests;
    if (std::string counts = monitor::requests_text(status); !counts.empty())
        requests.add({{"requests"}, {counts}});
    for (const Json& one : status.items("credentials"))
        requests.add({{"credential " + base::printable(one.text("name"))}, {monitor::credential_text(one)}});
    page.section("Requests", requests);
    page.section("Waiting for an answer", questions);
    page.section("Changed since the start", changes);
}

std::string text_of(const session::Known& known, const Json& levels, const base::Result<Json>& status,
                    bool is_coloured) {
    Page page(is_coloured);
    page.line(base::styled("session " + known.id, Style::bold, is_coloured));
    base::Table table;
    table.add({{"command"}, {base::printable(monitor::command_text(known.metadata))}});
    for (const Member& member : kMembers) {
        if (std::string value = known.metadata.text(member.key); !value.empty())
            table.add({{std::string(member.title)}, {base::printable(value)}});
    }
    table.add({{"process"}, {printable_number(known.metadata, "pid")}});
    if (std::string layer = monitor::layer_text(known.metadata); !layer.empty())
        table.add({{"layer"}, {layer}});
    if (status) {
        table.add({{"running for"}, {age(*status, "uptime_ms")}});
        table.add({{"refused"}, {printable_number(*status, "refused")}});
        table.add({{"policy"}, {base::printable(status->text("policy"))}});
    }
    page.table(table);
    base::Table reached;
    for (const auto& [control, level] : levels.members()) {
        if (level.as_text()) reached.add({{base::printable(control)}, {base::printable(*level.as_text())}});
    }
    page.section("Protection", reached);
    if (status) add_status(page, *status);
    return page.take();
}

}  // namespace

int inspect_verb(const Invocation& call) {
    if (call.arguments.words.size() > 1) return wrong_words(call, "inspect takes one session");
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    base::Result<session::Known> known =
        session::find_among(sessions->known, call.arguments.words.empty() ? "" : call.arguments.words[0]);
    if (!known) return call.output.fail(known.error());
    Json levels = levels_of(known->metadata.text("log"));
    base::Result<Json> status = session::ask_session(*known, Json::object().set("do", "status"));
    if (call.arguments.wants_json) {
        Json all = status ? *status : Json::object().set("error", status.error().line());
        all.set("session", known->metadata);
        if (levels.is_object()) all.set("levels", levels);
        return call.output.result(all.dump() + "\n", status ? 0 : 1);
    }
    int written = call.output.result(text_of(*known, levels, status, call.output.colours_results()));
    return status ? written : call.output.fail(status.error());
}

// `monitor`: the live screen, or once as text or JSON.

int monitor_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "monitor takes no words");
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    monitor::Setup setup{.places = std::move(sessions->places),
                         .home = std::move(sessions->home),
                         .is_coloured = call.output.colours_results()};
    if (call.arguments.has_own("--once")) {
        if (call.arguments.wants_json) return call.output.result(monitor::print_json(setup));
        monitor::Size size = monitor::size_of_terminal(STDOUT_FILENO);
        return call.output.result(monitor::print_once(setup, size.width, size.height));
    }
    if (call.arguments.wants_json) return wrong_words(call, "monitor --json needs --once");
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
        return call.output.fail({.what = "monitor needs a terminal",
                                 .advice = "monitor --once prints the screen once, --json as data",
                                 .exit_code = base::ExitCode::usage});
    }
    base::Result<int> ended = monitor::run(setup);
    return ended ? *ended : call.output.fail(ended.error());
}

}  // namespace cli
