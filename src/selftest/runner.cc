// SPDX-License-Identifier: MIT
#include "selftest/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "selftest/attempts/neighbour.h"
#include "selftest/jailed_probes.h"
#include "selftest/planted/fake_host.h"

namespace selftest {
namespace {

constexpr size_t kMostRead = 1u << 20;
constexpr struct timeval kLongestAttempt = {.tv_sec = 0, .tv_usec = 300'000};

bool holds_secret(const World& world, std::string_view text) {
    return text.find(world.secret) != std::string_view::npos;
}

// Not base::read_file: the reason in a finding must be the kernel's own error.
std::string read_some(int fd) {
    std::string text;
    char bytes[4096];
    for (ssize_t got; text.size() < kMostRead && (got = ::read(fd, bytes, sizeof bytes)) > 0;) {
        text.append(bytes, static_cast<size_t>(got));
    }
    return text;
}

// Creates the missing directories above `path`; returns those that it made, outermost first.
std::vector<std::string> make_parents(const std::string& path) {
    std::vector<std::string> made;
    for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        std::string directory = path.substr(0, slash);
        if (::mkdir(directory.c_str(), 0700) == 0) made.push_back(std::move(directory));
    }
    return made;
}

}  // namespace

Finding escaped(std::string detail) {
    return {Finding::Kind::escaped, std::move(detail)};
}

Finding held(std::string detail) {
    return {Finding::Kind::held, std::move(detail)};
}

Finding held(int error) {
    return held(error_word(error));
}

Finding absent(std::string detail) {
    return {Finding::Kind::absent, std::move(detail)};
}

Finding outcome(long result, std::string_view detail) {
    return result < 0 ? held(errno) : escaped(std::string(detail));
}

std::string error_word(int error) {
    const char* name = ::strerrorname_np(error);
    return name != nullptr ? name : "errno " + std::to_string(error);
}

std::string content_of(const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return fd ? read_some(fd.get()) : std::string();
}

Finding read_secret_from(const World& world, int fd) {
    char byte;
    if (::read(fd, &byte, 0) < 0) return held(errno);
    std::string text = read_some(fd);
    if (holds_secret(world, text)) return escaped("the secret was read");
    return held(text.empty() ? "reads as empty" : "the secret is not in it");
}

Finding read_secret(const World& world, const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return fd ? read_secret_from(world, fd.get()) : held(errno);
}

Finding see(const std::string& path) {
    struct stat status;
    return outcome(::lstat(path.c_str(), &status), "it is there");
}

Finding append_to(const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!fd) return held(errno);
    struct stat before;
    if (::fstat(fd.get(), &before) != 0 || ::write(fd.get(), "#\n", 2) < 0) return held(errno);
    (void)!::ftruncate(fd.get(), before.st_size);
    return escaped("it was written");
}

Finding create(const std::string& path, std::string_view content) {
    std::vector<std::string> made = make_parents(path);
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    bool is_written = fd && ::write(fd.get(), content.data(), content.size()) >= 0;
    int error = errno;
    if (fd) ::unlink(path.c_str());
    for (const std::string& directory : made | std::views::reverse) ::rmdir(directory.c_str());
    return is_written ? escaped("it was made") : held(error);
}

Finding open_for_writing(const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    return outcome(fd.get(), "it can be written");
}

Finding rename_away(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) return held(errno);
    ::rename(to.c_str(), from.c_str());
    return escaped("it was renamed");
}

Finding execute(const std::vector<std::string>& words) {
    pid_t child = ::fork();
    if (child == 0) {
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        base::Fd nowhere(::open("/dev/null", O_RDWR));
        for (int fd : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere.get(), fd);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) < 0)
        return {Finding::Kind::broken, "cannot start a process"};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return escaped("it ran");
    return held("it did not run");
}

Finding connect_to(const World& world, int type, const struct sockaddr* address, socklen_t length) {
    base::Fd fd(::socket(address->sa_family, type | SOCK_CLOEXEC, 0));
    if (!fd) return held(errno);
    for (int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        ::setsockopt(fd.get(), SOL_SOCKET, option, &kLongestAttempt, sizeof kLongestAttempt);
    }
    if (::connect(fd.get(), address, length) != 0) return held(errno);
    // The service answers a datagram only when it receives one; on a stream it sends a greeting.
    if (::send(fd.get(), "?", 1, MSG_NOSIGNAL) < 0) return held(errno);
    char bytes[256];
    ssize_t got = ::recv(fd.get(), bytes, sizeof bytes, 0);
    if (got < 0) return held(errno == EAGAIN ? "no answer" : error_word(errno));
    bool is_ours = holds_secret(world, std::string_view(bytes, static_cast<size_t>(got)));
    return is_ours ? escaped("the service answered") : held("something else answered");
}

Finding connect_to_unix(const World& world, const std::string& path) {
    if (path.empty()) return absent("no such service here");
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return absent("its path is too long for a socket");
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';
    auto length = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + path.size());
    return connect_to(world, SOCK_STREAM, reinterpret_cast<const struct sockaddr*>(&address), length);
}

Finding in_child(const std::function<Finding()>& act) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {Finding::Kind::broken, "cannot make a pipe"};
    base::Fd from(ends[0]), to(ends[1]);
    pid_t child = ::fork();
    if (child == 0) {
        Finding finding = act();
        std::string text = std::to_string(static_cast<int>(finding.kind)) + finding.detail;
        (void)base::write_all(to.get(), text);
        ::_exit(0);
    }
    to.reset();
    std::string text = child < 0 ? std::string() : read_some(from.get());
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) return held("killed by the filter");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return {Finding::Kind::broken, "did not end in time"};
    if (text.empty()) return {Finding::Kind::broken, "ended without a word"};
    return {static_cast<Finding::Kind>(text[0] - '0'), text.substr(1)};
}

namespace {

const std::vector<ScenarioRow>& scenario_rows() {
    static const std::vector<ScenarioRow> kRows = {
        {Scenario::standard, "standard", {}},
        {Scenario::home_read, "home-read", {{"home.access", "read"}}},
        {Scenario::home_write, "home-write", {{"home.access", "write"}}},
        {Scenario::read_only, "read-only", {{"project.read_only", "true"}}},
        {Scenario::held, "held", {{"project.hold", "all"}}},
        {Scenario::inherit, "inherit", {{"env.mode", "inherit"}}},
        {Scenario::open_network, "open-network", {{"network.mode", "open"}}},
        {Scenario::nested, "nested", {{"isolation.allow_nested_namespaces", "true"}}},
        // More changes depend on the host's ports (Planted::credential_changes).
        {Scenario::credentials, "credentials", {{"network.mode", "filtered"}}},
    };
    return kRows;
}

Probes make_probes() {
    Probes probes;
    for (auto add : {add_files, add_places, add_environment, add_processes, add_ipc, add_terminal,
                     add_system_calls, add_namespaces, add_protection, add_persistence, add_network,
                     add_gateway, add_credential_values, add_credential_requests}) {
        add(probes);
    }
    return probes;
}

}  // namespace

std::span<const ScenarioRow> scenarios() {
    return scenario_rows();
}

const ScenarioRow& row_of(Scenario scenario) {
    return *std::ranges::find(scenario_rows(), scenario, &ScenarioRow::scenario);
}

const std::vector<Probe>& all_probes() {
    static const Probes kProbes = make_probes();
    return kProbes;
}

std::vector<std::string_view> group_names() {
    std::vector<std::string_view> names;
    for (const Probe& probe : all_probes()) {
        if (std::ranges::find(names, probe.group()) == names.end()) names.push_back(probe.group());
    }
    return names;
}

base::Result<std::vector<const Probe*>> select_probes(std::span<const std::string> words) {
    std::vector<std::string_view> known = group_names();
    for (const Probe& probe : all_probes()) known.push_back(probe.name);
    for (const std::string& word : words) {
        if (std::ranges::find(known, word) != known.end()) continue;
        std::string near = base::nearest(word, known);
        return base::Error{
            .what = "there is no group or probe called " + word,
            .advice = near.empty() ? "selftest --list shows them" : base::format("did you mean {}?", near),
            .exit_code = base::ExitCode::usage};
    }
    std::vector<const Probe*> selected;
    for (const Probe& probe : all_probes()) {
        bool is_named = std::ranges::any_of(
            words, [&](const std::string& word) { return word == probe.name || word == probe.group(); });
        if ((words.empty() && !probe.is_on_request) || is_named) selected.push_back(&probe);
    }
    return selected;
}

namespace {

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
    if (is_left_out(world, probe.planted)) return absent("it would need a file of the user");
    return in_child([&] {
        // SIGALRM has no handler here, so it kills a probe that hangs.
        ::alarm(probe.seconds);
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

namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace

int run_part(int argc, char** argv) {
    std::vector<std::string> words(argv + 2, argv + argc);
    if (!words.empty() && words[0] == "probes") return run_probes(words);
    if (!words.empty() && words[0] == kWaiting) return run_waiting();
    if (!words.empty() && words[0] == "neighbour") return run_neighbour(words);
    if (!words.empty() && words[0] == "host") return run_fake_host(words);
    return static_cast<int>(base::ExitCode::usage);
}

void execute_part(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
    std::vector<std::string> arguments = {"agent-sandbox", std::string(kRole)};
    arguments.insert(arguments.end(), words.begin(), words.end());
    ::execve("/proc/self/exe", pointers_to(arguments).data(), pointers_to(environment).data());
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

}  // namespace selftest
