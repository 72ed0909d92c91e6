// SPDX-License-Identifier: MIT
// connect() and listen(), also where they take longer than the doorman may.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

#include "base/file.h"
#include "doorman/answered_calls.h"
#include "doorman/caller.h"
#include "doorman/handoff/connect_handoff.h"
#include "doorman/objects.h"

namespace doorman {

// connect() on a socket that may block, without blocking: the kernel waits as long as the socket's time limit
// for sending, which is shortened for this call. (O_NONBLOCK would be seen by every other holder of the
// socket.)

class Patience {
  public:
    Patience(int socket, std::chrono::microseconds limit);
    ~Patience();
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

    // What the caller itself had set; zero is for ever.
    std::chrono::microseconds original() const;

  private:
    int socket_;
    struct timeval original_ = {};
};

bool is_blocking(int socket);

// connect(2), through interruptions; zero or an errno. What is not through in time is EAGAIN or EINPROGRESS.
// Takes SIGALRM and the process's real-time clock for the while.
int connect_within(int socket, const struct sockaddr* address, socklen_t length,
                   std::chrono::microseconds limit);

// Callers whose connect() takes longer than the doorman may: a distant host, a server whose queue is full.
// Their answers are sent from here.

class WaitingRoom {
  public:
    using Clock = std::chrono::steady_clock;

    struct Guest {
        uint64_t id = 0;
        base::Fd socket;
        Object server;  // a Unix socket's; none: a connection of the Internet that is under way
        std::chrono::microseconds limit{0};  // the caller's own; zero is for ever
        Clock::time_point deadline;
    };

    // `gate` is an epoll descriptor: it becomes ready when review() has something to do.
    explicit WaitingRoom(int gate);
    void admit(Guest guest);
    // Answers those whose wait is over, by send(id, answer).
    void review(const std::function<bool(uint64_t)>& is_waiting,
                const std::function<void(uint64_t, Answer)>& send);

  private:
    void set_alarm(bool is_on);

    int gate_;
    base::Fd alarm_;
    std::list<Guest> guests_;
};

// connect() and listen().

struct Sockets {
    const AnsweredCalls& calls;
    int listener;
    WaitingRoom& waiting_room;
};
Answer answer_connect(const Caller& caller, const Sockets& sockets);
Answer answer_listen(const Caller& caller);

// Where the name begins in the address of a Unix socket.
inline constexpr size_t kPathOffset = offsetof(struct sockaddr_un, sun_path);

// SO_DOMAIN, SO_TYPE …; -1: not a socket, or without this option.
int option(int socket, int name);
bool is_internet(int family);
// Copies the second argument of connect() or bind(); zero or an errno.
int read_address(const Caller& caller, Address& address);
// What connect() and bind() begin with: a copy of the socket, its family and the address. Zero or an errno;
// the caller still waits then, and is a process that we may act for.
int take_socket_and_address(const Caller& caller, base::Fd& socket, int& family, Address& address);

// Connects a Unix socket to the opened one without waiting; zero or an errno (EAGAIN: the queue is full).
int connect_to(int socket, const Object& server);

}  // namespace doorman
