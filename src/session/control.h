// SPDX-License-Identifier: MIT
// The supervisor's ear for its user: requests over the session's control socket, one JSON object each way.
// Nothing here waits: a request is answered when its answer is there, and whoever does not read gets none.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"

namespace session {

// One line, and what to do, as the asker's program prints it.
base::Json refusal(const base::Error& error);

class Control {
  public:
    // May be called later, and once; of nobody who has left.
    using Reply = std::function<void(base::Json)>;
    using Handler = std::function<void(const base::Json& request, Reply reply)>;
    // Whether a process may steer the session. One of the jail's may not.
    using IsOutside = std::function<bool(pid_t)>;

    Control() = default;
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    // The socket is listened to already. By "do" of a request.
    void open(int listener, IsOutside is_outside);
    void handle(std::string_view request, Handler handler);

    // Readable when there is something to take; -1: nobody can ask.
    int events() const { return events_.get(); }
    void take();

    // A descriptor of somebody who has to wait besides; forgotten when it is closed.
    void watch(int descriptor, std::function<void()> on_ready);
    void forget(int descriptor);

    void close();

  private:
    struct Connection {
        base::Fd socket;
    };
    void admit();
    void hear(uint64_t id);
    void answer(uint64_t id, const base::Json& reply);

    int listener_ = -1;
    IsOutside is_outside_;
    base::Fd events_;
    std::map<std::string, Handler, std::less<>> handlers_;
    std::map<uint64_t, Connection> connections_;
    std::map<uint64_t, std::function<void()>> watched_;  // by descriptor
    uint64_t last_id_ = 0;
};

// Whether a process lies outside: in this process's pid namespace, and no descendant of `stage`, which all
// processes of a jail without a namespace descend from.
bool is_outside_of_jail(pid_t process, pid_t stage);

}  // namespace session
