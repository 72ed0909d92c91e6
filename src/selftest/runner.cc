// SPDX-License-Identifier: MIT
#include "selftest/runner.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <span>

#include "base/encoding/json.h"
#include "base/file.h"
#include "selftest/attempt.h"

namespace selftest {
namespace {

constexpr unsigned kLongestProbe = 2;  // seconds
constexpr size_t kLongestDetail = 200;

struct KindRow {
    Finding::Kind kind;
    std::string_view name;
};
constexpr KindRow kKinds[] = {{Finding::Kind::escaped, "escaped"},
                              {Finding::Kind::held, "held"},
                              {Finding::Kind::absent, "absent"},
                              {Finding::Kind::broken, "broken"}};

std::string_view name_of(Finding::Kind kind) {
    for (const KindRow& row : kKinds) {
        if (row.kind == kind) return row.name;
    }
    return "broken";
}

}  // namespace

std::string encode(const Report& report) {
    return base::Json::object()
               .set("probe", report.probe)
               .set("kind", name_of(report.finding.kind))
               .set("detail", report.finding.detail)
               .dump(-1) +
           "\n";
}

base::Result<Report> decode(std::string_view line) {
    base::Result<base::Json> json = base::Json::parse(line);
    if (!json) return json.error();
    Report report{.probe = json->text("probe")};
    report.finding.detail = json->text("detail").substr(0, kLongestDetail);
    for (const KindRow& row : kKinds) {
        if (row.name != json->text("kind") || report.probe.empty()) continue;
        report.finding.kind = row.kind;
        return report;
    }
    return base::Error{.what = "a report of a probe makes no sense"};
}

std::vector<std::string> words_for(const World& world, std::string_view scenario,
                                   const std::vector<std::string>& asked) {
    std::vector<std::string> words = {"probes", to_json(world).dump(-1), std::string(scenario)};
    words.insert(words.end(), asked.begin(), asked.end());
    return words;
}

Finding run_probe(const Probe& probe, const World& world) {
    return in_child([&] {
        // SIGALRM has no handler here, so it kills a probe that hangs.
        ::alarm(kLongestProbe);
        return probe.attempt(world);
    });
}

int run_probes(const std::vector<std::string>& words) {
    if (words.size() < 3) return static_cast<int>(base::ExitCode::usage);
    base::Result<World> world = world_from_json(words[1]);
    base::Result<std::vector<const Probe*>> selected = select_probes(std::span(words).subspan(3));
    if (!world || !selected) return static_cast<int>(base::ExitCode::usage);
    ::signal(SIGPIPE, SIG_IGN);
    // The parent is the stage. No process of the jail must be able to attack it.
    if (world->is_inside) world->guardian = ::getppid();
    for (const Probe* probe : *selected) {
        std::string_view scenario = row_of(probe->scenario).name;
        if (words[2] != kEveryScenario && words[2] != scenario) continue;
        Report report{probe->name, run_probe(*probe, *world)};
        if (!base::write_all(STDOUT_FILENO, encode(report))) return 1;
    }
    return 0;
}

}  // namespace selftest
