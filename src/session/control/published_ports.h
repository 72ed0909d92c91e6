// SPDX-License-Identifier: MIT
// The ports of the jail that are reachable on the host's loopback, while the session runs. The supervisor
// opens them, because the gateway can't listen, and session.json lists them for `ps`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/encoding/json.h"
#include "base/result.h"
#include "rules/egress.h"
#include "session/control/session_directory.h"
#include "session/helpers/gateway.h"

namespace session {

// ["8080","8081:80"]
base::Json json_of(const std::vector<network::Published>& ports);

class PublishedPorts {
  public:
    // `ports` are those of the start, which the gateway has opened.
    PublishedPorts(std::vector<network::Published> ports, Gateway& gateway, SessionDirectory& directory)
        : ports_(std::move(ports)), gateway_(gateway), directory_(directory) {}
    PublishedPorts(const PublishedPorts&) = delete;
    PublishedPorts& operator=(const PublishedPorts&) = delete;

    using OnDone = std::function<void(base::Status)>;
    // `egress` is of the policy that permits it.
    void open(const network::Published& port, const network::Egress& egress, const OnDone& on_done);
    void close(uint16_t host_port, const OnDone& on_done);

  private:
    void write() { directory_.update("published", json_of(ports_)); }

    std::vector<network::Published> ports_;
    Gateway& gateway_;
    SessionDirectory& directory_;
};

}  // namespace session
