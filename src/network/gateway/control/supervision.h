// SPDX-License-Identifier: MIT
// The gateway's end of the socket to its supervisor (messages.h).
#pragma once

#include <string_view>

#include "base/file.h"
#include "base/process/pass_descriptors.h"
#include "network/gateway/context.h"
#include "network/gateway/control/messages.h"
#include "network/gateway/control/steering.h"

namespace network::gateway {

class Supervision : public base::Watcher {
  public:
    Supervision(GatewayContext& context, base::Fd control);
    ~Supervision() override;

    void say(std::string_view message) const;
    // Carries out the supervisor's orders while the gateway serves.
    void steer(Steering* steering) { steering_ = steering; }

    // The host may have moved to another network. The confined gateway cannot read its files again.
    void ask_for_files();

    void on_ready(uint32_t events, int which) override;
    // False if the supervisor died.
    bool is_asked_to_end() const { return is_asked_; }

  private:
    void end(bool is_asked);
    void obey(const Order& order, std::vector<base::Fd>& descriptors);
    Reply renew_rules(uint64_t ticket, int file) const;
    Reply write_state(uint64_t ticket, int file) const;
    void renew_files(const std::vector<base::Fd>& descriptors) const;

    GatewayContext& context_;
    base::Fd control_;
    base::EventLoop::Slot slot_;
    Steering* steering_ = nullptr;
    bool is_asked_ = false;
    base::EventLoop::Clock::time_point next_request_;
};

}  // namespace network::gateway
