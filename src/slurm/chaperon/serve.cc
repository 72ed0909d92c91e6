// SPDX-License-Identifier: MIT
// Theory of operation. This process accepts and counts connections. It reads nothing from the jail, only
// short notes of its workers for the session's record, and one byte of each worker that has its request. It
// then gives the worker its turn, so that at most a fixed number of commands run at once and the others wait.
// A silent connection keeps none waiting. Each connection has a worker, which dies with this
// process. The worker's real commands die with it, or get a signal to end if they must release something. So
// at the end of the session one exit ends everything.
#include "slurm/chaperon/serve.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/text.h"
#include "slurm/channel/channel.h"
#include "slurm/chaperon/conversation.h"
#include "slurm/chaperon/log.h"
#include "slurm/chaperon/processes.h"
#include "slurm/chaperon/stub_conversation.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/option.h"
#include "slurm/scope/identity.h"

namespace slurm::chaperon {
namespace {

// The process of one request: reads it, calls its handler, sends the ending to the stub.

// A worker that has its whole request sends one of these to the server, and waits for one byte: its turn.
inline constexpr char kMayLast = 'l';
inline constexpr char kEndsSoon = 's';

struct WorkerEnds {
    base::Fd socket;  // of the stub
    base::Fd turn;    // to the server
};

// Not a command of Slurm: the session's own log, for the agent, and why its jobs did not start.
constexpr std::string_view kLogCommand = "log";

// One line in the form of the log's lines. Nothing if there is no message.
std::string line_about(const Context& context, const std::string& job) {
    std::string messages = messages_about(context.state_directory, job);
    if (messages.empty()) return {};
    base::Json line = base::Json::object();
    line.set("command", "sbatch").set("event", "messages").set("job", job).set("what", messages);
    return line.dump(-1) + "\n";
}

// The log's lines about submitted jobs are the chaperon's own.
std::string messages_of_jobs(const Context& context, std::string_view log) {
    std::string lines;
    for (std::string_view text : base::split(log, '\n')) {
        base::Result<base::Json> line = base::Json::parse(text);
        if (line && line->text("event") == "submitted") lines += line_about(context, line->text("job"));
    }
    return lines;
}

// Of this project, submitted by any session of it.
Ending show_job(const Context& context, const std::string& job, Conversation& conversation) {
    std::optional<Record> record = find_record(context.state_directory, job);
    bool is_shown = record && record->project == project_part(context.project);
    if (!is_shown) {
        return conversation.deny({std::string(code::not_in_scope),
                                  "job " + job.substr(0, 20) + " was not submitted from this project", ""});
    }
    std::string line = line_about(context, job);
    conversation.out(line.empty() ? "the jail has no message about job " + job + "\n" : line);
    return {};
}

Ending show_log(const Context& context, const Log& log, const Call& call, Conversation& conversation) {
    if (!call.arguments.empty()) return show_job(context, call.arguments.front(), conversation);
    std::string text = log.text();
    conversation.out(text);
    conversation.out(messages_of_jobs(context, text));
    return {};
}

Call call_of(channel::StubRequest request) {
    Call call;
    call.command = std::move(request.command);
    call.arguments = std::move(request.arguments);
    call.environment = std::move(request.environment);
    call.directory = std::move(request.directory);
    call.script = std::move(request.script);
    call.has_terminal = request.terminal.has_value();
    if (request.terminal) call.window = {request.terminal->rows, request.terminal->columns};
    return call;
}

Ending handle(const Context& context, const Handlers& handlers, const Log& log, const Call& call,
              Conversation& conversation) {
    if (call.command == kLogCommand) return show_log(context, log, call, conversation);
    if (auto handler = handlers.find(call.command); handler != handlers.end())
        return handler->second(context, call, conversation);
    if (const RefusedCommand* refused = find_refused_command(call.command))
        return conversation.deny({std::string(refused->code), std::string(refused->reason), ""});
    return conversation.deny(
        {std::string(code::command), "this command is not available in the sandbox", ""});
}

// srun, salloc and sbatch --wait run for hours. A query or scancel must not wait for them.
constexpr std::string_view kLasting[] = {"srun", "salloc", "sbatch"};

// False: the stub or the server is gone.
bool wait_for_turn(int turn, std::string_view command, Connection& connection) {
    bool may_last = std::ranges::find(kLasting, command) != std::end(kLasting);
    const char byte = may_last ? kMayLast : kEndsSoon;
    if (::send(turn, &byte, 1, MSG_NOSIGNAL) != 1) return false;
    bool is_granted = false;
    base::EventLoop loop;
    loop.add({[&] { return turn; },
              [&] {
                  char granted;
                  is_granted = ::recv(turn, &granted, 1, 0) == 1;
                  loop.stop();
              }});
    loop.add(base::Stream{[&] { return connection.awaited(); },
                          [&](short events) {
                              connection.attend(events);
                              if (connection.is_gone()) loop.stop();
                          }});
    loop.run();
    return is_granted;
}

// Runs in a process of its own, which the caller ends afterwards.
void answer(const Context& context, const Handlers& handlers, const Limits& limits, const Log& log,
            WorkerEnds ends) {
    ::signal(SIGPIPE, SIG_IGN);
    Connection connection(std::move(ends.socket));
    auto children = watch_children();
    auto arrived = connection.receive_request(limits);
    if (auto* refused = std::get_if<Connection::Refused>(&arrived)) {
        log.write("", "refused", {{"code", refused->code}, {"what", refused->what}});
        connection.hang_up(channel::denied({refused->code, refused->what, ""}) +
                           channel::exit({.number = 1}));
        return;
    }
    auto* request = std::get_if<channel::StubRequest>(&arrived);
    if (!request || !children || !wait_for_turn(ends.turn.get(), request->command, connection)) return;
    WorkerContext worker{context, limits, connection, children->get(),
                         request->terminal.value_or(channel::Window{})};
    Call call = call_of(std::move(*request));
    StubConversation conversation(worker, log, call.command);
    Ending ending = handle(context, handlers, log, call, conversation);
    connection.send(channel::exit({.number = ending.status & 0xff, .is_signal = ending.by_signal}));
    connection.flush();
}

class Server {
  public:
    Server(const Context& context, const Handlers& handlers, Line line, const Limits& limits)
        : context_(context), handlers_(handlers), line_(std::move(line)), limits_(limits), log_(line_.log) {}

    int run() {
        auto children = watch_children();
        if (!children) return 1;
        children_ = std::move(*children);
        open_record();
        register_sources();
        loop_.run();
        return status_;
    }

  private:
    // In the order in which ready ones are served. Each worker is one more source until it ends.
    void register_sources() {
        auto write_down = [this] { write_notes(notes_.get(), line_.record); };
        loop_.add({[this] { return notes_.get(); }, write_down});
        loop_.add({[this] { return line_.session.get(); },
                   [this, write_down] {
                       write_down();
                       loop_.stop();
                   }});
        loop_.add({[this] { return children_.get(); }, [this] { reap(); }});
        loop_.add({[this] { return workers_.size() < limits_.workers ? line_.listener.get() : -1; },
                   [this] {
                       if (accept_one()) return;
                       status_ = 1;
                       loop_.stop();
                   }});
    }

    // The record's lines form one chain, so only this process writes them. Workers send it notes.
    void open_record() {
        int ends[2];
        if (!line_.record || ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) return;
        notes_ = base::Fd(ends[0]);
        to_desk_ = base::Fd(ends[1]);
        log_.hand_on_to(to_desk_.get());
    }

    void reap() {
        forget_child_signals(children_.get());
        pid_t ended;
        while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
            if (auto worker = workers_.find(ended); worker != workers_.end()) {
                loop_.remove(worker->second.source);
                workers_.erase(worker);
            }
            std::erase(waiting_, ended);
        }
        give_turns();
    }

    // reading: it has not sent its byte. waiting: in waiting_.
    enum class State { reading, waiting, running };
    struct Worker {
        base::Fd turn;
        base::EventLoop::SourceId source = 0;
        State state = State::reading;
        bool may_last = false;
    };

    void take_request(pid_t process, Worker& worker) {
        char byte = 0;
        if (::recv(worker.turn.get(), &byte, 1, MSG_DONTWAIT) != 1) return worker.turn.reset();
        worker.may_last = byte != kEndsSoon;
        worker.state = State::waiting;
        waiting_.push_back(process);
        give_turns();
    }

    // In the order of their requests, except that one that ends soon need not wait for one that may last.
    void give_turns() {
        auto is_running = [](const auto& entry) { return entry.second.state == State::running; };
        auto running = static_cast<size_t>(std::ranges::count_if(workers_, is_running));
        std::erase_if(waiting_, [&](pid_t process) {
            Worker& worker = workers_.at(process);
            if (running >= limits_.commands + (worker.may_last ? 0 : limits_.reserve)) return false;
            (void)!::send(worker.turn.get(), "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
            worker.state = State::running;
            ++running;
            return true;
        });
    }

    // False: the listener cannot be used any more.
    bool accept_one() {
        base::Fd socket(::accept4(line_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) ::usleep(100'000);
            return errno != EBADF && errno != EINVAL && errno != ENOTSOCK;
        }
        struct ucred peer = {};
        socklen_t size = sizeof peer;
        if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
            !is_served(peer, context_.uid)) {
            log_.write("", "refused", {{"what", "a process of user " + std::to_string(peer.uid)}});
            return true;
        }
        start_worker(std::move(socket));
        return true;
    }

    static void turn_away(int socket) {
        Denial denial{std::string(code::busy), "no process could be started for the command", ""};
        std::string text =
            channel::denied({denial.code, denial.what, denial.advice}) + channel::exit({.number = 1});
        (void)!::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    void start_worker(base::Fd socket) {
        const pid_t parent = ::getpid();
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return turn_away(socket.get());
        base::Fd ours(ends[0]), theirs(ends[1]);
        pid_t worker = ::fork();
        if (worker < 0) return turn_away(socket.get());
        if (worker > 0) {
            Worker& added = workers_.emplace(worker, Worker{.turn = std::move(ours)}).first->second;
            added.source =
                loop_.add({[&added] { return added.state == State::reading ? added.turn.get() : -1; },
                           [this, worker, &added] { take_request(worker, added); }});
            return;
        }
        ours.reset();
        workers_.clear();
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        ::setpgid(0, 0);
        line_.listener.reset();
        line_.session.reset();
        children_.reset();
        notes_.reset();
        line_.record.close();
        answer(context_, handlers_, limits_, log_, {std::move(socket), std::move(theirs)});
        ::_exit(0);
    }

    const Context& context_;
    const Handlers& handlers_;
    Line line_;
    const Limits& limits_;
    Log log_;
    base::EventLoop loop_;
    int status_ = 0;
    base::Fd children_;
    base::Fd notes_, to_desk_;
    std::map<pid_t, Worker> workers_;
    std::vector<pid_t> waiting_;
};

}  // namespace

bool is_served(const struct ucred& peer, uint32_t uid) {
    return peer.pid >= 0 && peer.uid == uid;
}

int serve(const Context& context, const Handlers& handlers, Line line, const Limits& limits) {
    base::fill_standard_descriptors();
    add_spank_options(context.spank_options);
    // Non-blocking: a client may leave before it is accepted.
    ::fcntl(line.listener.get(), F_SETFL, ::fcntl(line.listener.get(), F_GETFL) | O_NONBLOCK);
    return Server(context, handlers, std::move(line), limits).run();
}

}  // namespace slurm::chaperon
