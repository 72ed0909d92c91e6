// SPDX-License-Identifier: MIT
// Theory of operation. There are two worlds with the same content. Probes attack one from outside, as the
// control, and the other from inside the jails. So a control may succeed completely without changing the
// findings of the jailed probes, and no probe has to be undone before its counterpart runs. Each scenario is
// one jail over the second world.
#include "selftest/selftest.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/backend.h"
#include "base/inside/paths_inside.h"
#include "inner/stage.h"
#include "plan/backend.h"
#include "selftest/attempts/launch.h"
#include "selftest/planted/planted.h"
#include "selftest/role.h"
#include "selftest/runner.h"
#include "session/helpers/outside_answers.h"

namespace selftest {
namespace {

using Reports = std::map<std::string, Finding, std::less<>>;

// Runs the checks from outside, which decide about their probes. A probe that failed to start keeps its
// finding.
void look_afterwards(const std::vector<const Probe*>& probes, std::string_view scenario, const World& world,
                     Reports& reports) {
    for (const Probe* probe : probes) {
        bool is_of_it = scenario == kEveryScenario || row_of(probe->scenario).name == scenario;
        auto report = reports.find(probe->name);
        if (!is_of_it || !probe->afterwards || report == reports.end()) continue;
        if (report->second.kind == Finding::Kind::broken) continue;
        Finding finding = probe->afterwards(world);
        // The kernel's error inside is a better reason than "nothing arrived".
        bool tells_more = finding.kind == Finding::Kind::held && report->second.detail.starts_with('E');
        if (!tells_more) report->second = std::move(finding);
    }
}

base::Status read_reports(std::string_view text, Reports& reports) {
    while (!text.empty()) {
        size_t end = std::min(text.find('\n'), text.size());
        base::Result<Report> report = decode(text.substr(0, end));
        if (!report) return report.error();
        reports[report->probe] = report->finding;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return base::success();
}

bool has_answers(const Jail& jail) {
    const plan::BackendTraits& backend = plan::traits_of(jail.plan.backend);
    if (backend.hands_connections) return jail.facts.can_answer_calls;
    return session::can_take_descriptors() && !plan::outside_answers_obstacle(backend, jail.facts);
}

JailRequest request_for(const Planted& planted, const ScenarioRow& scenario,
                        const std::vector<std::string>& asked) {
    World inside = planted.world();
    inside.is_inside = 1;
    JailRequest request{.environment = planted.environment(),
                        .project = base::Path::known(inside.project),
                        .changes = scenario.changes,
                        .command = {std::string(base::kOwnProgramPath), std::string(kRole)}};
    std::vector<std::string> words = words_for(inside, scenario.name, asked);
    request.command.insert(request.command.end(), words.begin(), words.end());
    return request;
}

// Plants in the first directory that is writable and that the settings permit for a project. If all fail, a
// refusal by the settings is a better error than a missing directory.
base::Result<Planted> plant(const Options& options, const std::string& home, const MakeJail& make_jail) {
    base::Error unmakeable{.what = "there is no place to plant the probes' files in"};
    std::optional<base::Error> refusal;
    for (const std::string& candidate : options.candidates) {
        base::Result<Planted> planted = Planted::make(candidate, home);
        if (!planted) {
            unmakeable = planted.error();
            continue;
        }
        base::Result<Jail> jail = make_jail(request_for(*planted, row_of(Scenario::standard), {}));
        if (jail) return planted;
        if (!refusal) refusal = jail.error();
    }
    base::Error error = refusal.value_or(unmakeable);
    if (error.advice.empty()) error.advice = "name a directory for them with --project DIR";
    return error;
}

class Run {
  public:
    Run(const Options& options, const MakeJail& make_jail, std::vector<const Probe*> probes)
        : options_(options), make_jail_(make_jail), probes_(std::move(probes)) {}

    base::Status attack_outside(Launcher& launcher, const Planted& planted) {
        std::vector<std::string> words = words_for(planted.world(), kEveryScenario, options_.asked);
        base::Result<std::string> text = launcher.run_outside(planted, words);
        if (!text) return text.error();
        if (base::Status done = read_reports(*text, outside_); !done) return done;
        look_afterwards(probes_, kEveryScenario, planted.world(), outside_);
        return base::success();
    }

    base::Status attack_inside(Launcher& launcher, const Planted& planted, const ScenarioRow& scenario) {
        bool is_needed = std::ranges::any_of(
            probes_, [&](const Probe* probe) { return probe->scenario == scenario.scenario; });
        if (!is_needed) return base::success();
        Reports reports;
        base::Result<Jail> jail = make_jail_(request_for(planted, scenario, options_.asked));
        if (!jail) return take_refusal(scenario, jail.error());
        host::probe_details(jail->facts);
        base::Result<std::string> text = launcher.run_inside(planted, *jail);
        if (!text) return text.error();
        if (base::Status done = read_reports(*text, reports); !done) return done;
        look_afterwards(probes_, scenario.name, planted.world(), reports);
        base::Backend backend = jail->plan.backend;
        Jailed jailed{.backend = backend,
                      .is_set_uid = backend == base::Backend::bwrap && jail->facts.bwrap.is_setuid,
                      .landlock = jail->facts.landlock_abi,
                      .has_own_sockets = jail->plan.network.abstract_sockets != plan::AbstractSockets::shared,
                      .has_answers = has_answers(*jail),
                      .settings = &jail->settings};
        judge_scenario(scenario, reports, jailed);
        return base::success();
    }

    std::vector<Judgement> judgements() const {
        std::vector<Judgement> all;
        for (const Probe* probe : probes_) all.push_back(judgements_.at(probe->name));
        return all;
    }

  private:
    // The standard jail must work. The others ask for more than an administrator may permit; then there is
    // nothing to attack.
    base::Status take_refusal(const ScenarioRow& scenario, const base::Error& error) {
        if (scenario.scenario == Scenario::standard) return error;
        judge_scenario(scenario, {}, {.refusal = "no such jail here: " + error.line()});
        return base::success();
    }

    void judge_scenario(const ScenarioRow& scenario, const Reports& inside, const Jailed& jail) {
        for (const Probe* probe : probes_) {
            if (probe->scenario != scenario.scenario) continue;
            Findings findings{.outside = find(outside_, probe->name), .inside = find(inside, probe->name)};
            judgements_[probe->name] = judge(*probe, findings, jail);
        }
    }

    static std::optional<Finding> find(const Reports& reports, const std::string& name) {
        auto report = reports.find(name);
        return report == reports.end() ? std::nullopt : std::optional(report->second);
    }

    const Options& options_;
    const MakeJail& make_jail_;
    std::vector<const Probe*> probes_;
    Reports outside_;
    std::map<std::string, Judgement, std::less<>> judgements_;
};

}  // namespace

base::Result<std::vector<Judgement>> run(const Options& options, const MakeJail& make_jail) {
    base::Result<std::vector<const Probe*>> probes = select_probes(options.asked);
    if (!probes) return probes.error();
    // Start this before anything is created that must be removed again.
    Launcher launcher;
    base::Result<Planted> attacked_inside = plant(options, options.home, make_jail);
    if (!attacked_inside) return attacked_inside.error();
    base::Result<Planted> attacked_outside = plant(options, {}, make_jail);
    if (!attacked_outside) return attacked_outside.error();

    Run run(options, make_jail, *std::move(probes));
    if (base::Status done = run.attack_outside(launcher, *attacked_outside); !done) return done.error();
    for (const ScenarioRow& scenario : scenarios()) {
        base::Status done = run.attack_inside(launcher, *attacked_inside, scenario);
        if (!done) return done.error();
    }
    return run.judgements();
}

}  // namespace selftest
