// SPDX-License-Identifier: MIT
// Theory of operation. There are two worlds with the same content. Probes attack one from outside, as the
// control, and the other from inside the jails. So a control may succeed completely without changing the
// findings of the jailed probes, and no probe has to be undone before its counterpart runs. Each scenario is
// one jail over the second world.
#include "selftest/selftest.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/backend.h"
#include "base/inside/jail_files.h"
#include "base/process/event_loop.h"
#include "base/result.h"
#include "base/text.h"
#include "inner/stage.h"
#include "plan/backend.h"
#include "selftest/jailed_probes.h"
#include "selftest/planted/planted.h"
#include "selftest/runner.h"
#include "session/directories.h"
#include "session/helpers/outside_answers.h"
#include "session/session.h"
#include "session/terminal.h"

namespace selftest {
namespace {

// Starts the probes, outside or in a jail, in their own session with their own terminal, and collects their
// output. While an instance exists, a signal that would end the program ends the probes instead, so that the
// planted files are removed.

class Launcher {
  public:
    // The unchanged output of the probes.
    base::Result<std::string> run_outside(const Planted& planted, const std::vector<std::string>& words);
    // `added`: the probes as a command of `exec`; empty: they are the session's own command.
    base::Result<std::string> run_inside(const Planted& planted, const Jail& jail,
                                         const std::vector<std::string>& added);

  private:
    base::Result<std::string> collect(const Planted& planted, const std::function<void()>& become);
    base::Status listen(int from, std::string& text);

    session::HeldSignals signals_;
};

constexpr std::chrono::seconds kLongestSilence{30};
constexpr size_t kMostText = 1u << 20;
// Programs that change accounts make and remove files in /etc, such as shadow.lock.
constexpr int kMostAttempts = 5;
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

base::Error interrupted(int signal) {
    return {.what = "ended by signal " + std::to_string(signal),
            .exit_code = static_cast<base::ExitCode>(128 + signal)};
}

// Kills a child that was started here, and waits for it.
class Child {
  public:
    explicit Child(pid_t process) : process_(process) {}
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The wait status of a child that exits by itself.
    int wait() {
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
        process_ = -1;
        return status;
    }

  private:
    void end() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        wait();
    }
    pid_t process_;
};

// Like a command that a user starts: a session with a terminal, standard input from it, results to the pipe.
void settle_in(const Planted& planted, int results, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::setsid();
    ::ioctl(planted.terminal(), TIOCSCTTY, 0);
    ::dup2(planted.terminal(), STDIN_FILENO);
    ::dup2(results, STDOUT_FILENO);
    ::dup2(planted.terminal(), STDERR_FILENO);
    (void)!::chdir(planted.world().project.c_str());
    planted.leave_descriptors_open();
}

base::Result<std::string> Launcher::run_outside(const Planted& planted,
                                                const std::vector<std::string>& words) {
    return collect(planted, [&] { execute_part(words, planted.environment()); });
}

base::Result<std::string> Launcher::run_inside(const Planted& planted, const Jail& jail,
                                               const std::vector<std::string>& added) {
    return collect(planted, [&] {
        session::SessionOptions options{
            .state_directory = jail.state_directory, .session = jail.session, .broker = jail.broker};
        // The probes search the record for the value.
        if (!jail.plan.broker.spec.bindings.empty())
            options.record = {.is_wanted = true, .size = 1u << 20, .keep = 3600};
        if (added.empty()) become_session(jail, options);
        // The last place is the planted one: no session of the user's is listed with it.
        options.runtime_place =
            session::make_runtime_place({session::runtime_places({}, jail.state_directory).back()});
        become_client_of_session(jail, options, added);
    });
}

base::Result<std::string> Launcher::collect(const Planted& planted, const std::function<void()>& become) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd from(ends[0]), to(ends[1]);
    pid_t parent = ::getpid();
    pid_t process = ::fork();
    if (process < 0) return base::system_error("start the probes", errno);
    if (process == 0) {
        inner::apply_signals(signals_.before());
        settle_in(planted, to.get(), parent);
        become();
        ::_exit(static_cast<int>(base::ExitCode::jail_failed));
    }
    to.reset();
    Child child(process);
    std::string text;
    if (base::Status heard = listen(from.get(), text); !heard) return heard.error();
    int status = child.wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    if (!text.starts_with('{') && !text.empty()) {
        return base::Error{.what = base::printable(text),
                           .advice = "'agent-sandbox doctor' says what this machine can do",
                           .may_pass = WIFEXITED(status) && WEXITSTATUS(status) == kMayPass};
    }
    return base::Error{.what = "the probes ended before they were done"};
}

base::Status Launcher::listen(int from, std::string& text) {
    using Clock = std::chrono::steady_clock;
    std::optional<base::Status> end;
    Clock::time_point latest = Clock::now() + kLongestSilence;
    base::EventLoop loop;
    loop.add(base::signal_source(signals_.events(), [&](const struct signalfd_siginfo& information) {
        int signal = static_cast<int>(information.ssi_signo);
        if (!end && std::ranges::find(kEnding, signal) != std::end(kEnding)) end = interrupted(signal);
        latest = Clock::now() + kLongestSilence;
    }));
    loop.add({[from] { return from; },
              [&] {
                  char bytes[4096];
                  ssize_t got = ::read(from, bytes, sizeof bytes);
                  if (got > 0) text.append(bytes, static_cast<size_t>(got));
                  if (!end && got == 0) end = base::success();
                  if (!end && text.size() > kMostText) end = base::Error{.what = "the probes say too much"};
                  latest = Clock::now() + kLongestSilence;
              }});
    while (!end) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(latest - Clock::now());
        if (left.count() <= 0) return base::Error{.what = "the probes fell silent"};
        loop.turn(left);
    }
    return *end;
}

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

// `has_rules`: of a jail whose connections are decrypted. Others can't hold rules about requests.
JailRequest request_for(const Planted& planted, const ScenarioRow& scenario,
                        const std::vector<std::string>& asked, bool has_rules = false) {
    World inside = planted.world();
    inside.is_inside = 1;
    JailRequest request{.environment = planted.environment(),
                        .project = base::Path::known(inside.project),
                        .changes = scenario.changes,
                        .command = {std::string(base::kOwnProgramPath), std::string(kRole)}};
    if (scenario.scenario == Scenario::credentials) {
        std::vector<Change> more = planted.credential_changes(has_rules);
        request.changes.insert(request.changes.end(), more.begin(), more.end());
    }
    std::vector<std::string> words = words_for(inside, scenario.name, asked);
    request.command.insert(request.command.end(), words.begin(), words.end());
    return request;
}

// Plants in the first directory that is writable and that the settings permit for a project. If all fail, a
// refusal by the settings is a better error than a missing directory.
base::Result<Planted> plant(const Options& options, const std::string& home, const MakeJail& make_jail,
                            base::Backend* backend = nullptr) {
    base::Error unmakeable{.what = "there is no place to plant the probes' files in"};
    std::optional<base::Error> refusal;
    for (const std::string& candidate : options.candidates) {
        base::Result<Planted> planted = Planted::make(candidate, home);
        if (!planted) {
            unmakeable = planted.error();
            continue;
        }
        base::Result<Jail> jail = make_jail(request_for(*planted, row_of(Scenario::standard), {}));
        if (jail && backend != nullptr) *backend = jail->plan.backend;
        if (jail) return planted;
        if (!refusal) refusal = jail.error();
    }
    base::Error error = refusal.value_or(unmakeable);
    if (error.advice.empty()) error.advice = "name a directory for them with --project DIR";
    return error;
}

// firejail takes the home directory of the account database, whatever HOME is.
base::Result<Planted> plant_inside(const Options& options, bool has_credentials, const MakeJail& make_jail) {
    base::Backend backend = base::Backend::native;
    base::Result<Planted> planted = plant(options, options.home, make_jail, &backend);
    bool is_settled = !planted || backend != base::Backend::firejail || !options.home.empty();
    if (is_settled || has_credentials || options.users_home.empty()) return planted;
    const std::string parent =
        std::filesystem::path(planted->world().root).parent_path().lexically_normal().string();
    bool is_in_home = (parent + "/").starts_with(options.users_home + "/");
    base::Result<Planted> in_home =
        Planted::make(is_in_home ? "/var/tmp" : parent, options.users_home, Existing::is_left_out);
    if (!in_home) return in_home;
    options.tell(
        base::format("firejail accepts no home directory but {}: files of the test are there until it "
                     "ends, and what needs a name that you use is not tried",
                     base::printable(options.users_home)));
    return in_home;
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
        base::Result<Jail> jail = base::Error{};
        base::Result<std::string> text = base::Error{.may_pass = true};
        for (int i = 0; i < kMostAttempts && !text && text.error().may_pass; ++i) {
            std::vector<std::string> added;
            jail = make_jail(planted, scenario, added);
            if (!jail) return take_refusal(scenario, jail.error());
            host::probe_details(jail->facts);
            text = launcher.run_inside(planted, *jail, added);
        }
        if (!text) return text.error();
        if (base::Status done = read_reports(*text, reports); !done) return done;
        look_afterwards(probes_, scenario.name, planted.world(), reports);
        base::Backend backend = jail->plan.backend;
        Jailed jailed{.backend = backend,
                      .is_set_uid = backend == base::Backend::bwrap && jail->facts.bwrap.is_setuid,
                      .landlock = jail->facts.landlock_abi,
                      .has_own_sockets = jail->plan.network.abstract_sockets != plan::AbstractSockets::shared,
                      .has_answers = has_answers(*jail),
                      .world = &planted.world(),
                      .intercepts = jail->plan.broker.spec.intercepts,
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
    // `added` gets the probes if they are not the jail's own command.
    base::Result<Jail> make_jail(const Planted& planted, const ScenarioRow& scenario,
                                 std::vector<std::string>& added) const {
        auto make = [&](bool has_rules) {
            JailRequest request = request_for(planted, scenario, options_.asked, has_rules);
            if (options_.is_through_exec)
                added = std::exchange(request.command, {std::string(base::kOwnProgramPath),
                                                        std::string(kRole), std::string(kWaiting)});
            return make_jail_(request);
        };
        base::Result<Jail> jail = make(false);
        if (jail && jail->plan.broker.spec.intercepts) jail = make(true);
        // The plan has the path of the program in this jail.
        if (jail && !added.empty()) added.front() = jail->plan.command.front();
        return jail;
    }

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
    bool has_credentials = std::ranges::any_of(
        *probes, [](const Probe* probe) { return probe->scenario == Scenario::credentials; });
    base::Result<Planted> attacked_inside = plant_inside(options, has_credentials, make_jail);
    if (!attacked_inside) return attacked_inside.error();
    base::Result<Planted> attacked_outside = plant(options, {}, make_jail);
    if (!attacked_outside) return attacked_outside.error();

    if (has_credentials) {
        for (Planted* planted : {&*attacked_inside, &*attacked_outside}) {
            if (base::Status done = planted->plant_credential(); !done) return done.error();
        }
    }
    Run run(options, make_jail, *std::move(probes));
    if (base::Status done = run.attack_outside(launcher, *attacked_outside); !done) return done.error();
    for (const ScenarioRow& scenario : scenarios()) {
        base::Status done = run.attack_inside(launcher, *attacked_inside, scenario);
        if (!done) return done.error();
    }
    return run.judgements();
}

}  // namespace selftest
