// SPDX-License-Identifier: MIT
// The supervisor's end of the session's control socket: requests of the user, one JSON object each way.
// Nothing here blocks: a handler may reply later, and a client that does not read its replies is
// disconnected.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/process/event_loop.h"
#include "base/result.h"

namespace session {

// A reply with the error in one line and its advice, as the client's program prints them.
base::Json refusal(const base::Error& error);

class Control {
  public:
    // May be called later, and at most once. Has no effect if the client has disconnected.
    using Reply = std::function<void(base::Json)>;
    using Handler = std::function<void(const base::Json& request, Reply reply)>;
    // Whether a process may control the session. A process of the jail may not.
    using IsOutside = std::function<bool(pid_t)>;

    Control() = default;
    ~Control() { close(); }
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    // `listener` is listening already. The "do" of a request selects its handler.
    void open(int listener, IsOutside is_outside);
    void handle(std::string_view request, Handler handler);
    // The same for a request whose client stays connected: the handler owns the connection from then on. The
    // request may have descriptors.
    struct Visitor {
        base::Fd connection;
        std::vector<base::Fd> descriptors;
    };
    using Host = std::function<void(const base::Json& request, Visitor visitor)>;
    static constexpr size_t kMostDescriptors = 3;
    void handle_visits(std::string_view request, Host host);

    // Readable when take() has work; -1: not open.
    int events() const { return loop_.descriptor(); }
    void take();

    // Also waits for a descriptor of another part of the supervisor. The owner calls forget() before it
    // closes it.
    void watch(int descriptor, std::function<void()> on_ready);
    void forget(int descriptor);

    void close();

  private:
    struct Watched final : base::Watcher {
        void on_ready(uint32_t /*events*/, int /*which*/) override { act(); }
        std::function<void()> act;
        base::Fd socket;  // of a client
        base::EventLoop::Slot slot = nullptr;
    };
    bool add(int descriptor, Watched& watched);
    void drop(uint64_t id);
    void admit();
    void hear(uint64_t id);
    void answer(uint64_t id, const base::Json& reply);
    void obey(uint64_t id, const base::Json& request, std::vector<base::Fd> descriptors);
    base::Fd release(uint64_t id);

    IsOutside is_outside_;
    base::EventLoop loop_;  // the supervisor's loop waits for its descriptor
    int listener_ = -1;
    Watched admission_;
    std::map<std::string, Handler, std::less<>> handlers_;
    std::map<std::string, Host, std::less<>> hosts_;
    std::map<uint64_t, std::shared_ptr<Watched>> connections_;
    std::map<int, std::shared_ptr<Watched>> watched_;  // by descriptor
    uint64_t last_id_ = 0;
};

// Whether a process is outside the jail: in this process's pid namespace, and not a descendant of `stage`.
// All processes of a jail without a pid namespace descend from `stage`; a jail with one needs no stage here.
bool is_outside_of_jail(pid_t process, std::optional<pid_t> stage);

}  // namespace session
