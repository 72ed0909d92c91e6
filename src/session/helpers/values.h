// SPDX-License-Identifier: MIT
// Gets the values of credentials for the gateway, when a request needs one, and writes new tokens of a log-in
// to the user's file. A source may take long (a password manager asks its user), so each runs in a process of
// its own beside the supervisor. The process writes the value into a memory file, which the supervisor seals
// and passes on: the supervisor never reads it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "base/result.h"
#include "base/secret_value.h"
#include "network/gateway/control/messages.h"
#include "session/helpers/gateway.h"

namespace session {

struct Value {
    base::SecretValue value;
    int64_t lifetime = 0;  // seconds; 0: of the session
};

class Values {
  public:
    // Called in the forked process, without the supervisor's descriptors and terminal.
    using Fetch = std::function<base::Result<Value>(size_t credential)>;
    // The source of a log-in. All but `unlock` are called in a forked process; `tokens` is a pipe with lines
    // "NUMBER VALUE". store() ends the lock.
    struct Logins {
        std::function<base::Status(size_t credential)> lock;
        std::function<void(size_t credential)> unlock;
        std::function<base::Status(const network::gateway::TokensIssued& issued, int tokens)> store;
    };
    // The memory file and the lifetime, or why there is no value.
    using Pass =
        std::function<void(size_t credential, const base::Result<base::Fd>& value, int64_t lifetime)>;
    // The longest time of a source, and some more for the process.
    static constexpr unsigned kLongestSeconds = 12;

    Values() = default;
    ~Values();
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    base::Status open(Fetch fetch, Logins logins = {});
    // Answers the gateway's questions for values, and takes new tokens from it. The gateway must outlive
    // this.
    void serve(Gateway& gateway);
    // A request for a credential that is being fetched has no effect. With `locks` the lock of its source
    // stays when the value is there.
    void request(size_t credential, bool locks = false);
    // store() ends the lock if there are new tokens.
    void end_refresh(size_t credential, bool has_tokens);
    // Calls back with an error, if there is one.
    void store(network::gateway::TokensIssued issued, base::Fd tokens,
               std::function<void(const base::Error&)> on_error);

    // Readable when take() has work; -1: not open.
    int events() const { return loop_.descriptor(); }
    void take();

  private:
    struct Fetcher final : base::Watcher {
        void on_ready(uint32_t /*events*/, int /*which*/) override { act(); }
        std::function<void()> act;
        pid_t process = -1;
        base::Fd answer;  // the lifetime of the value that is in the file, or why it is missing
        base::Fd file;
        base::EventLoop::Slot slot = nullptr;
        bool locks = false;
        std::function<void(const base::Error&)> on_error;  // of store()
    };
    base::Status start(size_t key, Fetcher& fetcher, const std::function<int(int answer)>& act);
    void hear(size_t key);
    void finish(size_t key, Fetcher& fetcher, const base::Result<std::string>& answer, int status);

    Fetch fetch_;
    Pass pass_;
    Logins logins_;
    std::set<size_t> locked_;     // sources whose lock this session has
    size_t last_key_ = SIZE_MAX;  // of store(), downwards
    base::EventLoop loop_;        // the supervisor's loop waits for its descriptor
    std::map<size_t, std::shared_ptr<Fetcher>> fetchers_;
};

}  // namespace session
