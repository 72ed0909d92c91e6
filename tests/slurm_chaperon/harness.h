// SPDX-License-Identifier: MIT
// A chaperon in a child process, with ordinary programs instead of the real Slurm commands, and stubs that
// connect to it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "slurm/channel/channel.h"
#include "slurm/chaperon/serve.h"
#include "slurm/client/stub.h"

namespace slurm::chaperon {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

inline bool happens(const std::function<bool()>& condition, std::chrono::milliseconds within = 60s) {
    for (auto until = Clock::now() + within; Clock::now() < until; std::this_thread::sleep_for(5ms)) {
        if (condition()) return true;
    }
    return condition();
}

inline std::vector<std::string> rest_of(const Call& call, size_t from = 1) {
    if (call.arguments.size() <= from) return {};
    return {call.arguments.begin() + static_cast<long>(from), call.arguments.end()};
}

// The handlers: the first argument names the real command.
inline Ending told(Conversation& conversation, const base::Result<Ending>& ending) {
    if (ending) return *ending;
    return conversation.deny({"slurm-unavailable", ending.error().what, ""});
}

inline Ending relay_it(const Context&, const Call& call, Conversation& conversation) {
    Conversation::Relayed how;
    how.passes_input = call.command == "srun";
    how.has_terminal = call.command == "sattach";
    if (how.has_terminal) how.passes_input = true;
    how.variables = {"EXTRA=more"};
    return told(conversation, conversation.relay(call.arguments.at(0), rest_of(call), how));
}

inline Ending rewrite_it(const Context&, const Call& call, Conversation& conversation) {
    Conversation::Relayed how;
    how.rewrite = [](std::string_view line) { return line == "secret\n" ? "" : "<" + std::string(line); };
    return told(conversation, conversation.relay(call.arguments.at(0), rest_of(call), how));
}

inline Ending capture_it(const Context&, const Call& call, Conversation& conversation) {
    auto captured = conversation.capture(call.arguments.at(0), rest_of(call, 2), call.arguments.at(1));
    if (!captured) return conversation.deny({"slurm-unavailable", captured.error().what, ""});
    conversation.out(captured->output);
    conversation.err(captured->errors);
    conversation.record("captured", {{"bytes", std::to_string(captured->output.size())}});
    return captured->ending;
}

inline Ending hold_it(const Context&, const Call&, Conversation& conversation) {
    // Does the work of the real salloc and its holder in one process.
    const char* both =
        "echo granted >&2; printf 'SLURM_JOB_ID=17\\0OTHER=x\\0\\0'; read -r status; printf %s \"$status\" "
        ">&2; exit 4";
    return told(conversation, conversation.hold("sh", {"-c", both}, [](const auto& environment) {
        return std::vector<std::string>{environment.at(0)};
    }));
}

// As for sbatch: the job file is the command's input, whatever the stub's input is.
inline Ending feed_it(const Context&, const Call& call, Conversation& conversation) {
    Conversation::Relayed how;
    how.input = std::string(500'000, 'j');
    return told(conversation, conversation.relay(call.arguments.at(0), rest_of(call), how));
}

inline Ending show_script(const Context&, const Call& call, Conversation& conversation) {
    conversation.out(call.script.value_or("no script\n"));
    return {};
}

struct Ran {
    std::string output, errors;
    int wait_status = 0;

    int code() const { return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1; }
    int signal() const { return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0; }
};

// A stub in a child process.
class Stub {
  public:
    Stub(const std::string& socket, std::vector<std::string> words, int input = -1, int output = -1) {
        int out[2], err[2];
        if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) std::abort();
        output_ = base::Fd(out[0]), errors_ = base::Fd(err[0]);
        base::Fd out_end(out[1]), err_end(err[1]);
        pid_ = ::fork();
        if (pid_ != 0) return;
        base::Fd none(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        ::dup2(input >= 0 ? input : none.get(), 0);
        ::dup2(output >= 0 ? output : out_end.get(), 1);
        ::dup2(err_end.get(), 2);
        base::close_others({0, 1, 2});
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        ::_exit(client::run_stub(words[0], static_cast<int>(words.size()), pointers.data(), socket.c_str()));
    }
    Stub(const Stub&) = delete;
    ~Stub() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
    }

    pid_t pid() const { return pid_; }

    // The first bytes of its output. A line may arrive in pieces; from a terminal the line break may arrive
    // alone.
    std::string first(size_t size) {
        std::string text(size, '\0');
        size_t known = 0;
        while (known < size) {
            struct pollfd entry = {output_.get(), POLLIN, 0};
            if (::poll(&entry, 1, 60'000) <= 0) break;
            ssize_t count = ::read(output_.get(), text.data() + known, size - known);
            if (count <= 0) break;
            known += static_cast<size_t>(count);
        }
        return text.substr(0, known);
    }

    // All of its output, and its exit status.
    Ran finish() {
        Ran ran;
        while (output_ || errors_) {
            struct pollfd entries[] = {{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}};
            if (::poll(entries, 2, 60'000) <= 0) {
                ADD_FAILURE() << "a stub does not end";
                ::kill(pid_, SIGKILL);
                break;
            }
            take(output_, entries[0].revents, ran.output);
            take(errors_, entries[1].revents, ran.errors);
        }
        ::waitpid(pid_, &ran.wait_status, 0);
        pid_ = -1;
        return ran;
    }

  private:
    static void take(base::Fd& fd, short events, std::string& text) {
        if (!events) return;
        char bytes[1 << 16];
        ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
        if (count > 0)
            text.append(bytes, static_cast<size_t>(count));
        else
            fd.reset();
    }

    pid_t pid_ = -1;
    base::Fd output_, errors_;
};

class ServeTest : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/chaperon-XXXXXX";
        folder_ = ::mkdtemp(name);
        socket_ = folder_ + "/slurm";
    }

    void TearDown() override {
        end_session();
        if (chaperon_ > 0) {
            ::kill(chaperon_, SIGKILL);
            ::waitpid(chaperon_, nullptr, 0);
        }
        std::filesystem::remove_all(folder_);
    }

    void serve_with(const Limits& limits = {}) {
        base::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        struct sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, socket_.c_str());
        ASSERT_EQ(::bind(listener.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(listener.get(), 128), 0);
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        session_ = base::Fd(ends[1]);
        base::Fd session(ends[0]);
        chaperon_ = ::fork();
        if (chaperon_ != 0) return;
        session_.reset();
        Context context;
        context.uid = ::getuid();
        context.environment = {"PATH=/usr/bin:/bin", "CLEAN=yes"};
        for (const char* name : {"cat", "sh", "true", "sleep", "env"})
            context.clients.add(name,
                                base::Fd(::open((std::string("/bin/") + name).c_str(), O_PATH | O_CLOEXEC)));
        context.clients.add("srun", base::Fd(::open("/bin/sh", O_PATH | O_CLOEXEC)));
        Handlers handlers = {{"squeue", relay_it},    {"srun", relay_it},    {"sinfo", rewrite_it},
                             {"sattach", relay_it},   {"sacct", capture_it}, {"salloc", hold_it},
                             {"sbatch", show_script}, {"scancel", feed_it}};
        base::Fd record(
            ::open((folder_ + "/record").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
        ::_exit(serve(context, handlers,
                      {std::move(listener), std::move(session), folder_ + "/made/log",
                       audit::Writer(std::move(record), "slurm", "seed", 0)},
                      limits));
    }

    void end_session() { session_.reset(); }

    Ran run(std::vector<std::string> words, int input = -1) {
        return Stub(socket_, std::move(words), input).finish();
    }

    base::Fd connect() {
        base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        struct sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, socket_.c_str());
        EXPECT_EQ(::connect(fd.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address), 0);
        return fd;
    }

    // All frames until the chaperon closes the connection.
    static std::vector<channel::Frame> frames_from(int fd) {
        std::vector<channel::Frame> frames;
        channel::Decoder decoder;
        char bytes[1 << 16];
        for (;;) {
            struct pollfd entry = {fd, POLLIN, 0};
            if (::poll(&entry, 1, 60'000) <= 0) {
                ADD_FAILURE() << "the chaperon does not hang up";
                return frames;
            }
            ssize_t count = ::read(fd, bytes, sizeof bytes);
            if (count <= 0) return frames;
            EXPECT_TRUE(decoder.feed({bytes, static_cast<size_t>(count)}, frames));
        }
    }

    std::string log() const {
        std::ifstream file(folder_ + "/made/log");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string record() const {
        std::ifstream file(folder_ + "/record");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    size_t entries_of(const std::string& folder) const {
        size_t count = 0;
        for (auto entry : std::filesystem::directory_iterator(folder)) (void)entry, ++count;
        return count;
    }
    size_t descriptors() const { return entries_of("/proc/" + std::to_string(chaperon_) + "/fd"); }
    std::string children() const {
        std::string pid = std::to_string(chaperon_);
        std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string folder_, socket_;
    base::Fd session_;
    pid_t chaperon_ = -1;
};

}  // namespace slurm::chaperon
