// SPDX-License-Identifier: MIT
#include "secrets/source.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process/descriptors.h"
#include "base/text.h"
#include "secrets/login.h"
#include "secrets/store.h"

namespace secrets {
namespace {

using base::Error;
using base::Result;
using base::Status;
using credentials::Credential;
using Kind = credentials::Source::Kind;
using std::chrono::milliseconds;

constexpr int kCannotExecute = 127;
const std::string kAwsToken = "AWS_SESSION_TOKEN";  // of temporary keys, beside the two variables
// A daemon that the command started may keep the pipe open, so the end of the command is looked for too.
constexpr milliseconds kLookAtChild{50};
constexpr milliseconds kLookAtEnd{2};  // after it closed the pipe

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

// Threat: the source could write to the agent's terminal, or read what the user types there. A session of its
// own has no terminal (tests/secrets/source_test.cc).
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment, int answer) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    base::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    bool is_ready = ::dup2(nothing.get(), STDIN_FILENO) >= 0 && ::dup2(answer, STDOUT_FILENO) >= 0 &&
                    ::dup2(nothing.get(), STDERR_FILENO) >= 0 && ::chdir("/") == 0;
    base::inherit_only({});
    if (is_ready) ::execve(program, arguments, environment);
    ::_exit(kCannotExecute);
}

Result<std::string> read_file_source(const std::string& path, const Surroundings& surroundings) {
    base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) return base::system_error("read " + path, errno);
    if (Status outside = check_outside(surroundings, file.get(), path); !outside) return outside.error();
    struct stat status;
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return Error{.what = "it is not a file", .advice = "name a file"};
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
        return Error{.what = "it belongs to another user", .advice = "copy it"};
    if ((status.st_mode & 022) != 0)
        return Error{.what = "others can write it",
                     .advice = base::format("run 'chmod go-w {}'", base::shell_word(path))};
    if (static_cast<size_t>(status.st_size) > kLargestAnswer)
        return Error{.what = "it is larger than 16 KiB", .advice = "name a file with the value alone"};
    return base::read_descriptor(file.get(), kLargestAnswer);
}

}  // namespace

std::string file_of(const credentials::Source& source, const base::Path& home) {
    return source.text.starts_with("~/") ? (home / source.text.substr(2)).str() : source.text;
}

Fetching::Fetching(const Credential& credential, const Surroundings& surroundings)
    : name_(credential.name),
      origin_(credential.source.describe()),
      kind_(credential.signs() ? AnswerKind::aws_key : AnswerKind::token) {
    begin(credential, surroundings);
}

void Fetching::begin(const Credential& credential, const Surroundings& surroundings) {
    const credentials::Source& source = credential.source;
    switch (source.kind) {
        case Kind::none:
            return finish(read_own(credential, surroundings));
        case Kind::variable:
            return finish(read_variable(surroundings, source.text));
        case Kind::file: {
            if (credential.is_login()) return finish(read_login(credential, surroundings));
            Result<std::string> text = read_file_source(file_of(source, surroundings.home), surroundings);
            return finish(text ? read_answer(*std::move(text), kind_) : Result<Fetched>(text.error()));
        }
        case Kind::command:
        case Kind::keyring:
            break;
    }
    std::vector<std::string> words = source.words;
    if (source.kind == Kind::keyring) {
        words = {"secret-tool", "lookup"};
        for (const std::string& attribute : source.words) {
            size_t equals = attribute.find('=');
            words.push_back(attribute.substr(0, equals));
            words.push_back(attribute.substr(equals + 1));
        }
    }
    if (Status started = start(words, surroundings); !started) finish(started.error());
}

Fetching::~Fetching() {
    end_child();
    base::wipe(text_);
}

Result<Fetched> Fetching::read_own(const Credential& credential, const Surroundings& surroundings) {
    if (is_stored(surroundings.store, credential.name)) {
        origin_ = "the program's own store";
        Result<base::SecretValue> value = read_stored(surroundings.store, credential.name);
        if (!value) return value.error();
        return Fetched{.value = *std::move(value)};
    }
    if (credential.signs() && credential.variables.size() > 1) {
        const std::string &id = credential.variables[0], &key = credential.variables[1];
        const char* id_value = variable_in(surroundings.environment, id);
        const char* key_value = variable_in(surroundings.environment, key);
        if (id_value != nullptr && key_value != nullptr) {
            origin_ = base::format("the variables {} and {}", id, key);
            const char* token = variable_in(surroundings.environment, kAwsToken);
            return read_answer(base::format("{} {} {}", id_value, key_value, token == nullptr ? "" : token),
                               kind_);
        }
    }
    for (const std::string& variable : credential.variables) {
        if (credential.signs() || variable_in(surroundings.environment, variable) == nullptr) continue;
        origin_ = "the variable " + variable;
        return read_variable(surroundings, variable);
    }
    std::string where =
        credential.variables.empty() ? "" : " and not in " + base::join(credential.variables, ", ");
    origin_.clear();
    return Error{.what = base::format("there is no value in the program's own store{}", where),
                 .advice = base::format("run 'agent-sandbox secret add {}'", credential.name)};
}

Result<Fetched> Fetching::read_login(const Credential& credential, const Surroundings& surroundings) {
    const std::string path = login_file(credential, surroundings);
    Result<std::string> text = read_file_source(path, surroundings);
    if (!text) return text.error();
    std::optional<std::string> value =
        credentials::text_of_field(path.substr(path.rfind('/') + 1), *text, credential.fields.front());
    base::wipe(*text);
    if (!value || value->empty())
        return Error{.what = base::format("{} has no log-in", base::printable(path)),
                     .advice = "log in with the agent"};
    Result<base::SecretValue> made = base::SecretValue::make(*std::move(value));
    if (!made) return made.error();
    return Fetched{.value = *std::move(made)};
}

Result<Fetched> Fetching::read_variable(const Surroundings& surroundings, const std::string& name) {
    const char* value = variable_in(surroundings.environment, name);
    if (value == nullptr) {
        return Error{.what = "it is not set in the shell that started the session",
                     .advice = base::format("export {}, or run 'agent-sandbox secret add {}'", name, name_)};
    }
    if (kind_ == AnswerKind::aws_key) return read_answer(std::string(value), kind_);
    Result<base::SecretValue> made = base::SecretValue::make(std::string(value));
    if (!made) return made.error();
    return Fetched{.value = *std::move(made)};
}

Status Fetching::start(const std::vector<std::string>& words, const Surroundings& surroundings) {
    Result<std::string> program = find_program(surroundings, words.front());
    if (!program) {
        bool is_keyring = words.front() == "secret-tool";
        Error error = program.error();
        if (is_keyring) error.advice = "install libsecret's tools (apt install libsecret-tools)";
        return error;
    }
    // A script that an interpreter reads is a source too.
    for (size_t i = 1; i < words.size(); ++i) {
        if (Status outside = check_argument(surroundings, words[i]); !outside) return outside;
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    answer_ = base::Fd(ends[0]);
    base::Fd write(ends[1]);
    (void)::fcntl(answer_.get(), F_SETFL, O_NONBLOCK);
    const std::vector<std::string> environment = environment_for(surroundings);
    const std::vector<char*> argument_pointers = pointers_to(words);
    const std::vector<char*> environment_pointers = pointers_to(environment);
    // Enough that it never grows: a text that grows leaves a copy.
    text_.reserve(kLargestAnswer + 2);
    deadline_ = Clock::now() + kLongestSource;
    child_ = ::fork();
    if (child_ < 0) return base::system_error("start " + *program, errno);
    if (child_ == 0)
        become(program->c_str(), argument_pointers.data(), environment_pointers.data(), write.get());
    return base::success();
}

int Fetching::patience() const {
    if (is_done()) return -1;
    auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()) + milliseconds(1);
    return static_cast<int>(
        std::clamp(left, milliseconds(0), is_at_end_ ? kLookAtEnd : kLookAtChild).count());
}

void Fetching::drain() {
    char buffer[4096];
    while (!is_at_end_ && text_.size() <= kLargestAnswer) {
        size_t room = std::min(sizeof buffer, kLargestAnswer + 1 - text_.size());
        ssize_t count = ::read(answer_.get(), buffer, room);
        if (count > 0) {
            text_.append(buffer, static_cast<size_t>(count));
        } else if (count == 0) {
            is_at_end_ = true;
        } else if (errno != EINTR) {
            break;
        }
    }
    explicit_bzero(buffer, sizeof buffer);
}

void Fetching::serve() {
    if (is_done()) return;
    drain();
    if (text_.size() > kLargestAnswer) {
        end_child();
        return finish(Error{.what = "it printed more than 16 KiB", .advice = "print the value alone"});
    }
    int status = 0;
    pid_t ended = ::waitpid(child_, &status, WNOHANG);
    if (ended == child_) {
        child_ = -1;
        drain();  // what came between the last read and the end
        return judge(status);
    }
    if (ended < 0 && errno != EINTR) {
        child_ = -1;
        return finish(Error{.what = "its exit status is not known", .advice = "try again"});
    }
    if (Clock::now() >= deadline_) {
        end_child();
        finish(Error{.what = "it took longer than 10 seconds",
                     .advice = "run it in a terminal: it may wait for a password or for the network"});
    }
}

void Fetching::judge(int status) {
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == kCannotExecute)
        return finish(Error{.what = "it can't be run", .advice = "run it in a terminal"});
    if (code != 0) {
        return finish(Error{.what = base::format("it ended with exit status {}", code),
                            .advice = "run it in a terminal to read its messages"});
    }
    if (text_.empty()) return finish(Error{.what = "it printed nothing", .advice = "run it in a terminal"});
    finish(read_answer(std::move(text_), kind_));
}

void Fetching::end_child() {
    if (child_ <= 0) return;
    // Its process group has its own number only after setsid().
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
}

void Fetching::finish(Result<Fetched> result) {
    base::wipe(text_);
    answer_.reset();
    if (!result) {
        Error error = result.error();
        error.what = origin_.empty() ? base::format("credential {}: {}", name_, error.what)
                                     : base::format("credential {}, {}: {}", name_, origin_, error.what);
        result_.emplace(std::move(error));
        return;
    }
    result_.emplace(*std::move(result));
}

Result<Fetched> Fetching::take() {
    Result<Fetched> taken = std::move(*result_);
    return taken;
}

Result<Fetched> fetch(const Credential& credential, const Surroundings& surroundings) {
    Fetching fetching(credential, surroundings);
    return await_value(fetching);
}

Result<Fetched> await_value(Fetching& fetching) {
    while (!fetching.is_done()) {
        (void)base::await_events(fetching.descriptor(), POLLIN, milliseconds(fetching.patience()));
        fetching.serve();
    }
    return fetching.take();
}

}  // namespace secrets
