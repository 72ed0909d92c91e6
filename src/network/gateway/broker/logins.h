// SPDX-License-Identifier: MIT
// Refreshes of log-ins. A refresh token is often valid once: two refreshes with the same one end the log-in.
// So a refresh gets its token from the user's file at that moment, under the lock of the file, and the next
// one of this session waits until the new token is in the file.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <set>

#include "network/exchange/tokens.h"

namespace network::gateway {

class Logins {
  public:
    // `pass` sends new tokens to the supervisor, which writes them to the user's file and ends the lock;
    // `release` tells it that a refresh is over, and ends the lock if there are no new tokens.
    void pass_by(std::function<void(const exchange::NewTokens&, bool is_login)> pass,
                 std::function<void(size_t binding, bool has_tokens)> release) {
        pass_ = std::move(pass);
        release_ = std::move(release);
    }

    // A refresh with the token of this binding, from its beginning to the end of the exchange.
    class Refresh {
      public:
        Refresh(Logins& logins, size_t binding) : logins_(logins), binding_(binding) {}
        ~Refresh() { logins_.end(binding_, has_tokens_); }
        Refresh(const Refresh&) = delete;
        Refresh& operator=(const Refresh&) = delete;
        void note_tokens() { has_tokens_ = true; }

      private:
        Logins& logins_;
        size_t binding_;
        bool has_tokens_ = false;
    };
    // Calls back once, now or later: the refresh begins. Does not call back if `alive` has expired by then.
    using OnTurn = std::function<void(std::unique_ptr<Refresh>)>;
    void await_turn(size_t binding, std::weak_ptr<char> alive, OnTurn on_turn);

    void pass(const exchange::NewTokens& issued, bool is_login) const {
        if (pass_) pass_(issued, is_login);
    }

  private:
    struct Waiter {
        size_t binding;
        std::weak_ptr<char> alive;
        OnTurn on_turn;
    };
    void end(size_t binding, bool has_tokens);

    std::function<void(const exchange::NewTokens&, bool)> pass_;
    std::function<void(size_t, bool)> release_;
    std::set<size_t> running_;
    std::list<Waiter> waiters_;
};

}  // namespace network::gateway
