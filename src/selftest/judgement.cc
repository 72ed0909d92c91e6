// SPDX-License-Identifier: MIT
#include "selftest/judgement.h"

#include "base/parse.h"
#include "base/path.h"
#include "base/table.h"
#include "base/text.h"

namespace selftest {
namespace {

using base::Backend;
using Kind = Finding::Kind;
using Lack = Exception::Lack;

constexpr std::string_view kSharedSockets =
    "an open network is the host's, and this host can't keep its abstract sockets apart; the start of a "
    "session says why";

constexpr std::string_view kNoAnswers =
    "the kernel does not tell whose terminal is resized, and on this host no process can answer the call";

constexpr Exception kExceptions[] = {
    {Backend::native, "ipc/abstract-socket-open-network", kSharedSockets, 6, Lack::own_sockets},
    {Backend::bwrap, "ipc/abstract-socket-open-network", kSharedSockets, 6, Lack::own_sockets},
    {Backend::native, "ipc/abstract-name-open-network", kSharedSockets, 0, Lack::own_sockets},
    {Backend::bwrap, "ipc/abstract-name-open-network", kSharedSockets, 0, Lack::own_sockets},
    {Backend::firejail, "ipc/abstract-name-open-network", kSharedSockets, 0, Lack::own_sockets},
    {Backend::native, "terminal/size", kNoAnswers, 0, Lack::answers},
    {Backend::bwrap, "terminal/size", kNoAnswers, 0, Lack::answers},
    {Backend::firejail, "terminal/size", kNoAnswers, 0, Lack::answers},
    {Backend::landlock, "terminal/size", kNoAnswers, 0, Lack::answers},
    {.backend = Backend::bwrap,
     .probe = "namespaces/shared-user",
     .reason = "a set-uid bubblewrap makes no user namespace where the host closes them",
     .is_for_set_uid = true},
    {Backend::firejail, "files/place-*", "directories at the top can be seen; they are empty or closed"},
    {Backend::firejail, "files/write-*",
     "firejail leaves these mounts writable: they belong to root, or are the jail's own"},
    {Backend::firejail, "namespaces/shared-cgroup",
     "firejail makes no cgroup namespace: names of control groups are seen"},
    {Backend::firejail, "namespaces/shared-user",
     "there is no user namespace; firejail is used where the host closes them"},
    {Backend::landlock, "files/project-env*", "masked files lie in the project, which is granted as a whole"},
    {Backend::landlock, "files/project-service--env",
     "masked files lie in the project, which is granted as a whole"},
    {Backend::landlock, "files/place-*", "names can be seen; what they lead to can't be opened"},
    {Backend::landlock, "files/device-*", "names can be seen; what they lead to can't be opened"},
    {Backend::landlock, "files/other-home", "names can be seen; what they lead to can't be opened"},
    {Backend::landlock, "files/accounts", "/etc/passwd is the host's"},
    {Backend::landlock, "files/write-*",
     "the mounts are the host's; Landlock refuses what would be written there"},
    {Backend::landlock, "files/own-program",
     "the mounts are the host's; Landlock refuses what would be written there"},
    {Backend::landlock, "processes/see",
     "there is no pid namespace: processes are listed, and can't be touched"},
    {Backend::landlock, "processes/guardian-descriptors",
     "there is no pid namespace: root may list the numbers of descriptors, and not what they lead to"},
    {Backend::landlock, "processes/capability-limit",
     "only a privileged process can lower its bounds; no_new_privs keeps them from being reached"},
    {Backend::landlock, "ipc/key-listing",
     "/proc can't be shown in part: names of keys are listed, keys can't be used"},
    {Backend::landlock, "terminal/other-terminal-seen",
     "names can be seen; what they lead to can't be opened"},
    {Backend::landlock, "terminal/device-*", "names can be seen; what they lead to can't be opened"},
    {Backend::landlock, "namespaces/shared-*", "there are no namespaces"},
    {Backend::landlock, "persistence/git-*",
     "protected paths lie in the project, which is granted as a whole"},
    {Backend::landlock, "persistence/editor-*",
     "protected paths lie in the project, which is granted as a whole"},
    {Backend::landlock, "persistence/container-definition",
     "protected paths lie in the project, which is granted as a whole"},
    {Backend::landlock, "persistence/agent-settings",
     "protected paths lie in the project, which is granted as a whole"},
    {Backend::landlock, "persistence/placeholder-*",
     "protected paths lie in the project, which is granted as a whole"},
    {Backend::landlock, "persistence/secret-renamed-aside",
     "masked files lie in the project, which is granted as a whole"},
    {Backend::landlock, "network/interfaces",
     "there is no network namespace: devices are listed, and can't be used"},
    {Backend::landlock, "network/listeners",
     "there is no network namespace: listeners are listed, and refused"},
    {Backend::landlock, "network/unix-listeners",
     "there is no network namespace: listeners are listed, and refused"},
};

const Exception* find_exception(const Probe& probe, const Jailed& jail) {
    for (const Exception& row : kExceptions) {
        bool is_backend = row.backend == jail.backend && (jail.is_set_uid || !row.is_for_set_uid);
        bool is_about_it = is_backend && base::matches_name(row.probe, probe.name);
        bool is_old = row.below_landlock == 0 || jail.landlock < row.below_landlock;
        bool is_lacking = row.lack == Lack::nothing || (row.lack == Lack::answers && !jail.has_answers) ||
                          (row.lack == Lack::own_sockets && !jail.has_own_sockets);
        if (is_about_it && is_old && is_lacking) return &row;
    }
    return nullptr;
}

// "isolation.private_tmp = false, /etc/agent-sandbox/config.toml:3" if the setting has this value, else
// empty.
std::string permission_for(const Probe& probe, const Jailed& jail) {
    size_t equals = probe.permitted_by.find('=');
    if (equals == std::string_view::npos || jail.settings == nullptr) return {};
    std::string_view key = probe.permitted_by.substr(0, equals),
                     value = probe.permitted_by.substr(equals + 1);
    if (jail.settings->text(key) != value) return {};
    return base::format("{} = {}, {}", key, value, jail.settings->origin(key).describe());
}

Judgement judge_escape(Judgement judgement, const Jailed& jail) {
    judgement.result = ProbeResult::escaped;
    if (std::string permission = permission_for(*judgement.probe, jail); !permission.empty()) {
        judgement.result = ProbeResult::permitted;
        judgement.detail = permission;
    } else if (const Exception* exception = find_exception(*judgement.probe, jail)) {
        judgement.result = ProbeResult::expected;
        judgement.detail = exception->reason;
    }
    return judgement;
}

// A pass counts only if the control confirms it.
Judgement judge_pass(Judgement judgement, const std::optional<Finding>& outside) {
    judgement.result = ProbeResult::error;
    if (!outside || outside->kind == Kind::broken) {
        judgement.detail = "the control failed: " + (outside ? outside->detail : "it was not heard of");
        return judgement;
    }
    if (outside->kind == Kind::absent) {
        judgement.result = ProbeResult::not_tried;
        judgement.detail = outside->detail;
    } else if (outside->kind == Kind::escaped) {
        judgement.result = ProbeResult::held;
    } else if (!judgement.probe->excuse.empty()) {
        judgement.result = ProbeResult::held;
        judgement.no_control = base::format("{}: {}", judgement.probe->excuse, outside->detail);
    } else {
        judgement.detail = "the control failed: outside it is refused as well, " + outside->detail;
    }
    return judgement;
}

}  // namespace

std::string_view to_text(ProbeResult result) {
    switch (result) {
        case ProbeResult::held:
            return "held";
        case ProbeResult::escaped:
            return "ESCAPED";
        case ProbeResult::permitted:
            return "permitted";
        case ProbeResult::expected:
            return "expected";
        case ProbeResult::not_tried:
            return "not tried";
        case ProbeResult::error:
            return "ERROR";
    }
    return "";
}

std::span<const Exception> exceptions() {
    return kExceptions;
}

Judgement judge(const Probe& probe, const Findings& findings, const Jailed& jail) {
    Judgement judgement{.probe = &probe};
    if (!jail.refusal.empty()) {
        judgement.result = ProbeResult::not_tried;
        judgement.detail = jail.refusal;
        return judgement;
    }
    if (probe.needs_interception && !jail.intercepts) {
        judgement.result = ProbeResult::not_tried;
        judgement.detail = "this backend does not decrypt connections";
        return judgement;
    }
    if (jail.world != nullptr && is_left_out(*jail.world, probe.planted)) {
        judgement.result = ProbeResult::not_tried;
        judgement.detail = base::format("~/{} is the user's own", probe.planted);
        return judgement;
    }
    if (!findings.inside) {
        judgement.detail = "the probe was not heard of";
        return judgement;
    }
    judgement.detail = findings.inside->detail;
    switch (findings.inside->kind) {
        case Kind::escaped:
            return judge_escape(std::move(judgement), jail);
        case Kind::held:
        case Kind::absent:
            return judge_pass(std::move(judgement), findings.outside);
        case Kind::broken:
            return judgement;
    }
    return judgement;
}

Totals add_up(const std::vector<Judgement>& judgements) {
    Totals totals;
    for (const Judgement& judgement : judgements) {
        switch (judgement.result) {
            case ProbeResult::held:
                ++totals.held;
                break;
            case ProbeResult::escaped:
                ++totals.escaped;
                break;
            case ProbeResult::permitted:
                ++totals.permitted;
                break;
            case ProbeResult::expected:
                ++totals.expected;
                break;
            case ProbeResult::not_tried:
                ++totals.not_tried;
                break;
            case ProbeResult::error:
                ++totals.errors;
                break;
        }
        if (!judgement.no_control.empty()) ++totals.without_control;
    }
    return totals;
}

bool is_sound(const Totals& totals) {
    return totals.escaped == 0 && totals.errors == 0;
}

namespace {

using base::Json;
using base::printable;
using base::Style;

Style style_of(ProbeResult result) {
    switch (result) {
        case ProbeResult::held:
            return Style::green;
        case ProbeResult::escaped:
        case ProbeResult::error:
            return Style::red;
        case ProbeResult::permitted:
        case ProbeResult::expected:
            return Style::yellow;
        case ProbeResult::not_tried:
            return Style::dim;
    }
    return Style::plain;
}

// For programs: lower case, one word.
std::string name_of(ProbeResult result) {
    std::string name = base::lower(to_text(result));
    std::ranges::replace(name, ' ', '_');
    return name;
}

std::string heading(std::string_view group, bool is_coloured) {
    return base::styled(group, Style::bold, is_coloured) + "\n";
}

void add_row(base::Table& table, const Judgement& judgement) {
    std::string remark =
        judgement.no_control.empty() ? "" : base::format("(no control: {})", printable(judgement.no_control));
    table.add({{std::string(to_text(judgement.result)), style_of(judgement.result)},
               {judgement.probe->name},
               {printable(judgement.detail)},
               {remark, Style::dim}});
}

std::string summary(const Totals& totals, bool is_coloured) {
    struct Row {
        size_t count;
        std::string_view text;
    };
    const Row kRows[] = {{totals.held, "held"},
                         {totals.escaped, "escaped"},
                         {totals.errors, "errors"},
                         {totals.permitted, "permitted by settings"},
                         {totals.expected, "known limits of the backend"},
                         {totals.not_tried, "not tried"}};
    std::vector<std::string> parts;
    for (const Row& row : kRows) {
        if (row.count > 0) parts.push_back(base::format("{} {}", row.count, row.text));
    }
    std::string line = base::join(parts, ", ");
    if (totals.without_control > 0) {
        line += base::format("; {} held without a control on this host", totals.without_control);
    }
    return base::styled(line, is_sound(totals) ? Style::green : Style::red, is_coloured) + "\n";
}

// Repeats at the end the results that need action, with their meaning.
std::string failures(const std::vector<Judgement>& judgements, bool is_coloured) {
    std::string text;
    for (const Judgement& judgement : judgements) {
        if (judgement.result != ProbeResult::escaped && judgement.result != ProbeResult::error) continue;
        text += base::format("  {} {}: a process in the jail {}: {}\n",
                             base::styled(to_text(judgement.result), Style::red, is_coloured),
                             judgement.probe->name, judgement.probe->what, printable(judgement.detail));
    }
    return text.empty() ? text : text + "\n";
}

}  // namespace

std::string to_text(const std::vector<Judgement>& judgements, bool is_coloured) {
    std::string text;
    for (std::string_view group : group_names()) {
        base::Table table;
        for (const Judgement& judgement : judgements) {
            if (judgement.probe->group() == group) add_row(table, judgement);
        }
        if (!table.is_empty()) text += heading(group, is_coloured) + table.text(2, is_coloured) + "\n";
    }
    return text + failures(judgements, is_coloured) + summary(add_up(judgements), is_coloured);
}

Json to_json(const std::vector<Judgement>& judgements) {
    Json list = Json::array();
    for (const Judgement& judgement : judgements) {
        const Probe& probe = *judgement.probe;
        Json row = Json::object()
                       .set("probe", probe.name)
                       .set("group", probe.group())
                       .set("attempt", probe.what)
                       .set("scenario", row_of(probe.scenario).name)
                       .set("verdict", name_of(judgement.result))
                       .set("detail", printable(judgement.detail));
        row.set("control",
                judgement.no_control.empty() ? Json("shown") : Json("none: " + judgement.no_control));
        list.push(std::move(row));
    }
    Totals totals = add_up(judgements);
    return Json::object()
        .set("sound", is_sound(totals))
        .set("held", totals.held)
        .set("escaped", totals.escaped)
        .set("errors", totals.errors)
        .set("permitted", totals.permitted)
        .set("expected", totals.expected)
        .set("not_tried", totals.not_tried)
        .set("without_control", totals.without_control)
        .set("probes", std::move(list));
}

std::string list_text(const std::vector<const Probe*>& probes, bool is_coloured) {
    std::string text;
    for (std::string_view group : group_names()) {
        base::Table table;
        for (const Probe* probe : probes) {
            if (probe->group() == group) table.add({{probe->name}, {probe->what}});
        }
        if (!table.is_empty()) text += heading(group, is_coloured) + table.text(2, is_coloured) + "\n";
    }
    return base::format("{}{} probes\n", text, probes.size());
}

Json list_json(const std::vector<const Probe*>& probes) {
    Json list = Json::array();
    for (const Probe* probe : probes) {
        list.push(Json::object()
                      .set("probe", probe->name)
                      .set("group", probe->group())
                      .set("attempt", probe->what)
                      .set("scenario", row_of(probe->scenario).name));
    }
    return list;
}

}  // namespace selftest
