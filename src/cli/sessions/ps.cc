// SPDX-License-Identifier: MIT
// `ps`: lists running sessions. It reads only their directories, so it does not have to contact them.
#include <unistd.h>

#include "base/encoding/json.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "monitor/cells.h"
#include "monitor/screen.h"
#include "monitor/terminal.h"

namespace cli {
namespace {

using monitor::padded;
using session::Known;

std::string line_of(const std::vector<std::string>& cells, size_t width) {
    std::string line =
        base::format("{} {}  {} {} ", padded(cells[0], session::kShortId), monitor::padded_left(cells[1], 6),
                     padded(cells[2], 8), padded(cells[3], 9));
    size_t left = width > monitor::cells_of(line) ? width - monitor::cells_of(line) : 0;
    size_t project = left * 2 / 5;
    line += padded(cells[4], project) + " ";
    return line + monitor::cut(cells[5], left > project ? left - project - 1 : 0);
}

std::string text_of(const Sessions& sessions, size_t width) {
    std::string text = line_of({"ID", "AGE", "BACKEND", "NETWORK", "PROJECT", "COMMAND"}, width) + "\n";
    for (const Known& known : sessions.known) {
        const base::Json& metadata = known.metadata;
        bool is_elsewhere = known.state == Known::State::elsewhere;
        text += line_of({short_id(known), monitor::age_text(monitor::age_of(metadata.text("started"))),
                         metadata.text("backend"), metadata.text("network"),
                         monitor::project_text(metadata, sessions.home),
                         (is_elsewhere ? base::format("on {}: ", metadata.text("host")) : "") +
                             monitor::command_text(metadata)},
                        width) +
                "\n";
    }
    return text;
}

base::Json json_of(const std::vector<Known>& known) {
    base::Json all = base::Json::array();
    for (const Known& one : known) {
        base::Json row = one.metadata;
        row.set("session", one.id);
        row.set("state", one.state == Known::State::elsewhere ? "elsewhere" : "running");
        all.push(std::move(row));
    }
    return base::Json::object().set("sessions", std::move(all));
}

// For completion.
std::string ids_of(const std::vector<Known>& known) {
    std::string text;
    for (const Known& one : known) text += short_id(one) + "\n";
    return text;
}

}  // namespace

int ps_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "ps takes no words");
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    if (call.arguments.has_own("--ids")) return call.output.result(ids_of(sessions->known));
    if (call.arguments.wants_json) return call.output.result(json_of(sessions->known).dump() + "\n");
    if (sessions->known.empty()) return call.output.result("no session is running\n");
    return call.output.result(text_of(*sessions, monitor::size_of_terminal(STDOUT_FILENO).width));
}

}  // namespace cli
