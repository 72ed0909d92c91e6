// SPDX-License-Identifier: MIT
// Connections that the inner stage passes one by one if the jail has no network namespace of its own
// (doorman/doorman.h). Each comes with a note that contains its destination.
#pragma once

#include "base/file.h"
#include "network/gateway/connections/acceptor.h"
#include "network/gateway/context.h"

namespace network::gateway {

class PassedAcceptor : public base::Watcher {
  public:
    PassedAcceptor(GatewayContext& context, Acceptor& acceptor, base::Fd stage);
    ~PassedAcceptor() override;

    void on_ready(uint32_t events, int which) override;
    // False: the stage has exited and no more connections will come.
    bool is_open() const { return bool(stage_); }

  private:
    void close();

    GatewayContext& context_;
    Acceptor& acceptor_;
    base::Fd stage_;
    base::EventLoop::Slot slot_ = nullptr;
};

}  // namespace network::gateway
