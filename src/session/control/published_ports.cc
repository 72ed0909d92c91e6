// SPDX-License-Identifier: MIT
#include "session/control/published_ports.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "network/gateway/control/publish.h"

namespace session {
namespace {

// The gateway itself listens there inside, and would lead visitors back to the host.
bool is_host_service(const network::Published& port, network::Egress egress) {
    std::erase_if(egress.published, [&](const network::Published& other) {
        return other.host_port == port.host_port && other.jail_port == port.jail_port;
    });
    std::vector<uint16_t> ports = network::loopback_ports(egress);
    return std::ranges::find(ports, port.jail_port) != ports.end();
}

}  // namespace

base::Json json_of(const std::vector<network::Published>& ports) {
    base::Json list = base::Json::array();
    for (const network::Published& port : ports) list.push(to_text(port));
    return list;
}

void PublishedPorts::open(const network::Published& port, const network::Egress& egress,
                          const OnDone& on_done) {
    if (std::ranges::find(ports_, port.host_port, &network::Published::host_port) != ports_.end()) {
        return on_done(
            base::Error{.what = base::format("port {} of the host is published already", port.host_port),
                        .advice = base::format("agent-sandbox publish --end {} ends that", port.host_port)});
    }
    if (is_host_service(port, egress)) {
        return on_done(base::Error{
            .what =
                base::format("port {} of the jail is a service of the host (--host-port)", port.jail_port),
            .advice = "publish another port of the jail: agent-sandbox publish HOST:JAIL"});
    }
    base::Result<base::Fd> listener = network::gateway::open_port(port);
    if (!listener) return on_done(listener.error());
    gateway_.publish(port, *std::move(listener),
                     [this, port, on_done](const base::Result<std::string>& reply) {
                         if (!reply) return on_done(reply.error());
                         ports_.push_back(port);
                         write();
                         on_done(base::success());
                     });
}

void PublishedPorts::close(uint16_t host_port, const OnDone& on_done) {
    auto found = std::ranges::find(ports_, host_port, &network::Published::host_port);
    if (found == ports_.end()) {
        return on_done(base::Error{.what = base::format("port {} of the host is not published", host_port),
                                   .advice = "agent-sandbox ps lists the ports"});
    }
    gateway_.unpublish(host_port, [this, host_port, on_done](const base::Result<std::string>& reply) {
        if (!reply) return on_done(reply.error());
        std::erase_if(ports_, [&](const network::Published& port) { return port.host_port == host_port; });
        write();
        on_done(base::success());
    });
}

}  // namespace session
