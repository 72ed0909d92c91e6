// SPDX-License-Identifier: MIT
#include "secrets/keyring.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/text.h"

namespace secrets {
namespace {

using Clock = std::chrono::steady_clock;

// The user may have to type the password of the keyring.
constexpr std::chrono::seconds kLongest{60};
constexpr std::chrono::milliseconds kLook{20};

// True if it ended with status 0.
bool run_tool(std::vector<std::string> words, int input, const Surroundings& surroundings) {
    if (variable_in(surroundings.environment, "DBUS_SESSION_BUS_ADDRESS") == nullptr) return false;
    base::Result<std::string> program = find_program(surroundings, words.front());
    if (!program) return false;
    std::vector<std::string> environment = environment_for(surroundings);
    auto pointers_to = [](std::vector<std::string>& texts) {
        std::vector<char*> pointers;
        for (std::string& text : texts) pointers.push_back(text.data());
        pointers.push_back(nullptr);
        return pointers;
    };
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (input >= 0) {
        ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    } else {
        ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    pid_t child = -1;
    int problem = ::posix_spawn(&child, program->c_str(), &actions, nullptr, pointers_to(words).data(),
                                pointers_to(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) return false;
    const Clock::time_point deadline = Clock::now() + kLongest;
    base::Fd pidfd = base::open_pidfd(child);
    int status = 0;
    while (true) {
        pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0 && errno != EINTR) return false;
        if (Clock::now() >= deadline) break;
        (void)base::await_events(pidfd ? pidfd.get() : -1, POLLIN, kLook);
    }
    ::kill(child, SIGKILL);
    (void)::waitpid(child, &status, 0);
    return false;
}

std::vector<std::string> words_for(std::string_view action, const std::string& name) {
    std::vector<std::string> words = {"secret-tool", std::string(action)};
    if (action == "store") words.push_back(base::format("--label=agent-sandbox: {}", name));
    for (const std::string& attribute : keyring_attributes(name)) {
        size_t equals = attribute.find('=');
        words.push_back(attribute.substr(0, equals));
        words.push_back(attribute.substr(equals + 1));
    }
    return words;
}

}  // namespace

std::vector<std::string> keyring_attributes(const std::string& name) {
    return {"service=agent-sandbox", "credential=" + name};
}

bool store_in_keyring(const std::string& name, const base::SecretValue& value,
                      const Surroundings& surroundings) {
    base::Result<base::Fd> file =
        value.reveal([](std::string_view bytes) { return base::memory_file("value", bytes); });
    return file && run_tool(words_for("store", name), file->get(), surroundings);
}

bool remove_from_keyring(const std::string& name, const Surroundings& surroundings) {
    return run_tool(words_for("clear", name), -1, surroundings);
}

}  // namespace secrets
