// SPDX-License-Identifier: MIT
// Theory of operation. The messages of one command, in their order:
//
//   client                     supervisor                        stage
//   request, 0, 1, 2     →     checks, records            →      forks
//                        ←     {"ok":true,"started":PID}  ←      `started`
//   {"signal":2,"group":true}  →                          →      kill
//                        ←     {"ok":true,"ended":{…}}    ←      `ended`
//
// The client's connection is the life of the command: if it closes, the command gets SIGHUP, and SIGKILL two
// seconds later. Nothing here waits: a stage that does not read is as if it refused.
#include "session/control/added_commands.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "audit/secrets.h"
#include "base/encoding/base64.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "session/steps.h"

namespace session {
namespace {

constexpr time_t kUntilKilled = 2;  // seconds
constexpr size_t kLongestListed = 200;
constexpr int kPassedSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGKILL,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGSTOP};

// The devices of /dev that every jail has: null, zero, full, random, urandom.
bool is_harmless_device(dev_t device) {
    constexpr unsigned kMemoryDevices = 1;
    constexpr unsigned kMinors[] = {3, 5, 7, 8, 9};
    return major(device) == kMemoryDevices && std::ranges::count(kMinors, minor(device)) > 0;
}

// Threat: a directory leads out of the jail, a device may give power over the machine, and a regular file can
// be opened again with more rights; the client passes a pipe in its place (tests/jail/exec.bats).
base::Status check_descriptor(const plan::Plan& plan, int number, int descriptor) {
    if (base::Status checked = check_inherited(plan, descriptor, number); !checked) return checked;
    struct stat status;
    if (::fstat(descriptor, &status) != 0) return base::system_error("look at a descriptor", errno);
    bool is_stream = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
    bool is_device =
        S_ISCHR(status.st_mode) && (::isatty(descriptor) != 0 || is_harmless_device(status.st_rdev));
    if (is_stream || is_device) return base::success();
    return base::Error{.what = base::format("descriptor {} is not a pipe, a socket or a terminal", number),
                       .advice = "redirect it to a pipe or to /dev/null"};
}

// Words that are not UTF-8 travel in base64, all together.
std::optional<std::string> word_in(const base::Json& item, bool is_encoded) {
    const std::string* text = item.as_text();
    if (text == nullptr) return std::nullopt;
    std::optional<std::string> word = is_encoded ? base::from_base64(*text) : *text;
    return word && word->find('\0') == std::string::npos ? word : std::nullopt;
}

base::Result<std::vector<std::string>> words_in(const base::Json& request, std::string_view key) {
    std::vector<std::string> words;
    for (const base::Json& item : request.items(key)) {
        std::optional<std::string> word = word_in(item, request.truth("base64"));
        if (!word) return base::Error{.what = base::format("the request has a wrong word in '{}'", key)};
        words.push_back(*std::move(word));
    }
    return words;
}

base::Error too_many() {
    return {.what = base::format("the session runs {} added commands already", inner::kMostAdded),
            .advice = "wait until one has ended; 'agent-sandbox inspect' lists them"};
}

base::Json refusal_with_code(const base::Error& error) {
    return refusal(error).set("exit_code", static_cast<int>(error.exit_code)).set("may_pass", error.may_pass);
}

void send_message(int socket, const base::Json& message) {
    const std::string text = message.dump(-1);
    (void)!::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

AddedCommands::AddedCommands(Parts parts) : parts_(std::move(parts)) {
    parts_.control.handle_visits("exec", [this](const base::Json& request, Control::Visitor visitor) {
        take(request, std::move(visitor));
    });
}

AddedCommands::~AddedCommands() {
    (void)finish();
}

void AddedCommands::take(const base::Json& request, Control::Visitor visitor) {
    const int client = visitor.connection.get();
    base::Result<inner::AddedRequest> added = check(request, visitor.descriptors);
    base::Status started = added ? start(*std::move(added), visitor) : added.error();
    if (!started) send_message(client, refusal_with_code(started.error()));
}

base::Result<inner::AddedRequest> AddedCommands::check(const base::Json& request,
                                                       const std::vector<base::Fd>& descriptors) const {
    if (state_ == State::starting)
        return base::Error{
            .what = "the session is still being started", .advice = "try again", .may_pass = true};
    if (state_ == State::over) return base::Error{.what = "the session has just ended"};
    if (parts_.plan.trace.is_wanted())
        return base::Error{.what = "the session is traced, and an added command would not be",
                           .advice = "start the session without --trace-…, or the command in its own jail"};
    base::Result<std::vector<std::string>> command = words_in(request, "command");
    if (!command) return command.error();
    base::Result<std::vector<std::string>> environment = words_in(request, "environment");
    if (!environment) return environment.error();
    if (command->empty() || command->front().empty())
        return base::Error{.what = "the request names no command"};
    if (descriptors.size() != Control::kMostDescriptors)
        return base::Error{.what = "the request has not the descriptors 0, 1 and 2"};
    for (size_t number = 0; number < descriptors.size(); ++number) {
        base::Status checked =
            check_descriptor(parts_.plan, static_cast<int>(number), descriptors[number].get());
        if (!checked) return checked.error();
    }
    if (base::Status checked = check_environment(*environment); !checked) return checked.error();
    const base::Json* place = request.find("cwd");
    std::optional<std::string> directory = place ? word_in(*place, request.truth("base64")) : "";
    if (!directory) return base::Error{.what = "the request has a wrong directory"};
    inner::AddedRequest added{.command = *std::move(command),
                              .environment = *std::move(environment),
                              .directory = *std::move(directory),
                              .has_terminal = request.truth("terminal"),
                              .ignored_signals = static_cast<uint64_t>(request.number("ignored"))};
    if (!inner::decode_added(inner::encode(added)))
        return base::Error{.what = base::format("the command and its variables have more than {} KiB",
                                                inner::kLargestAddedWords >> 10),
                           .advice = "put them into a script or a file of the project"};
    return added;
}

base::Status AddedCommands::check_environment(const std::vector<std::string>& variables) const {
    for (const std::string& variable : variables) {
        const size_t equals = variable.find('=');
        const std::string name = variable.substr(0, equals);
        if (equals == std::string::npos || !base::is_variable_name(name))
            return base::Error{.what = base::format("'{}' is not a variable", base::printable(name))};
        if (name == "TERM") continue;
        if (!parts_.may_pass) return base::Error{.what = "this session takes no further variables"};
        base::Status passed = parts_.may_pass(name, std::string_view(variable).substr(equals + 1));
        if (!passed) return passed;
    }
    return base::success();
}

base::Status AddedCommands::start(inner::AddedRequest request, Control::Visitor& visitor) {
    auto* place = std::ranges::find_if(running_, [](const auto& one) { return !one; });
    if (place == running_.end()) return too_many();
    const int slot = static_cast<int>(place - running_.begin());
    // A client that did not wait for a busy supervisor does not want the command any more.
    if (base::ready_events(visitor.connection.get(), POLLIN) & POLLHUP)
        return base::Error{.what = "the client has gone"};
    base::Result<base::Fd> text = base::memory_file("added", inner::encode(request));
    if (!text) return text.error();
    std::vector<int> descriptors = {text->get()};
    for (const base::Fd& descriptor : visitor.descriptors) descriptors.push_back(descriptor.get());
    if (int number = parts_.send({.slot = slot, .starts = true}, descriptors); number != 0)
        return base::system_error("pass the command to the jail", number);
    *place = Running{.id = ++last_id_,
                     .client = std::move(visitor.connection),
                     .timer = {},
                     .command = std::move(request.command),
                     .directory = std::move(request.directory),
                     .process = 0,
                     .began = Clock::now()};
    parts_.control.watch((*place)->client.get(), [this, slot] { hear_client(slot); });
    return base::success();
}

void AddedCommands::hear(const inner::Report& report) {
    if (report.slot < 0 || report.slot >= inner::kMostAdded) return;
    std::optional<Running>& place = running_[static_cast<size_t>(report.slot)];
    if (!place) return;
    switch (report.kind) {
        case inner::Report::Kind::started:
            place->process = report.number;
            record(*place, nullptr);
            tell(*place, base::Json::object().set("ok", true).set("started", report.number));
            return;
        case inner::Report::Kind::failed:
            tell(*place, refusal_with_code(parts_.explain(report)));
            return release(report.slot);
        case inner::Report::Kind::ended: {
            record(*place, &report);
            base::Json ended = base::Json::object();
            ended.set(report.by_signal ? "signal" : "status", report.number);
            tell(*place, base::Json::object().set("ok", true).set("ended", std::move(ended)));
            return release(report.slot);
        }
        case inner::Report::Kind::built:
        case inner::Report::Kind::traced:
        case inner::Report::Kind::stopped:
        case inner::Report::Kind::refused:
        case inner::Report::Kind::opened:
        case inner::Report::Kind::nested:
            return;
    }
}

void AddedCommands::hear_client(int slot) {
    std::optional<Running>& running = running_[static_cast<size_t>(slot)];
    char bytes[256];
    ssize_t got = ::recv(running->client.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return lose_client(slot);
    base::Result<base::Json> message = base::Json::parse(std::string_view(bytes, static_cast<size_t>(got)));
    const auto signal = message && message->is_object() ? message->number("signal") : 0;
    if (std::ranges::count(kPassedSignals, signal) > 0)
        (void)parts_.send(
            {.signal = static_cast<int>(signal), .to_group = message->truth("group"), .slot = slot}, {});
}

void AddedCommands::lose_client(int slot) {
    Running& running = *running_[static_cast<size_t>(slot)];
    parts_.control.forget(running.client.get());
    running.client.reset();
    for (int signal : {SIGHUP, SIGCONT})
        (void)parts_.send({.signal = signal, .to_group = true, .slot = slot}, {});
    running.timer = base::Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    const struct itimerspec once = {.it_interval = {}, .it_value = {kUntilKilled, 0}};
    if (!running.timer || ::timerfd_settime(running.timer.get(), 0, &once, nullptr) != 0)
        return kill_late(slot);
    parts_.control.watch(running.timer.get(), [this, slot] { kill_late(slot); });
}

void AddedCommands::kill_late(int slot) {
    Running& running = *running_[static_cast<size_t>(slot)];
    if (running.timer) parts_.control.forget(running.timer.get());
    running.timer.reset();
    (void)parts_.send({.signal = SIGKILL, .to_group = true, .slot = slot}, {});
}

void AddedCommands::release(int slot) {
    std::optional<Running>& running = running_[static_cast<size_t>(slot)];
    if (running->client) parts_.control.forget(running->client.get());
    if (running->timer) parts_.control.forget(running->timer.get());
    running.reset();
}

void AddedCommands::tell(const Running& running, const base::Json& message) {
    if (running.client) send_message(running.client.get(), message);
}

size_t AddedCommands::finish() {
    state_ = State::over;
    size_t count = 0;
    for (size_t slot = 0; slot < running_.size(); ++slot) {
        if (!running_[slot]) continue;
        ++count;
        const inner::Report killed{.kind = inner::Report::Kind::ended, .number = SIGKILL, .by_signal = true};
        record(*running_[slot], &killed);
        base::Json ended = base::Json::object().set("signal", SIGKILL).set("with_session", true);
        tell(*running_[slot], base::Json::object().set("ok", true).set("ended", std::move(ended)));
        release(static_cast<int>(slot));
    }
    return count;
}

void AddedCommands::record(const Running& running, const inner::Report* ending) const {
    if (!parts_.record) return;
    audit::Line line("exec");
    line.number("id", running.id).texts("command", audit::without_secrets(running.command));
    line.path("directory", running.directory);
    if (running.process > 0) line.number("pid", static_cast<uint64_t>(running.process));
    if (ending != nullptr) {
        line.number(ending->by_signal ? "signal" : "status", static_cast<uint64_t>(ending->number));
        auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - running.began);
        line.number("duration_ms", static_cast<uint64_t>(duration.count()));
    }
    parts_.record.write(std::move(line));
}

base::Json AddedCommands::list() const {
    base::Json all = base::Json::array();
    for (const std::optional<Running>& running : running_) {
        if (!running) continue;
        auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - running->began);
        std::string words = base::join(audit::without_secrets(running->command), " ");
        if (words.size() > kLongestListed) words.replace(kLongestListed, std::string::npos, "…");
        all.push(base::Json::object()
                     .set("id", static_cast<int64_t>(running->id))
                     .set("pid", running->process)
                     .set("command", std::move(words))
                     .set("age_ms", int64_t{age.count()}));
    }
    return all;
}

}  // namespace session
