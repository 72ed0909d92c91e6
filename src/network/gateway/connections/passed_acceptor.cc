// SPDX-License-Identifier: MIT
#include "network/gateway/connections/passed_acceptor.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/process/pass_descriptors.h"
#include "doorman/handoff/handoff_message.h"

namespace network::gateway {
namespace {

Endpoint endpoint_of(const doorman::Destination& destination) {
    if (destination.is_v6) {
        Address::Bytes bytes;
        std::copy_n(destination.address, bytes.size(), bytes.begin());
        return {Address::from_v6(bytes), destination.port};
    }
    std::array<uint8_t, 4> bytes;
    std::copy_n(destination.address, bytes.size(), bytes.begin());
    return {Address::from_v4(bytes), destination.port};
}

}  // namespace

PassedAcceptor::PassedAcceptor(GatewayContext& context, Acceptor& acceptor, base::Fd stage)
    : context_(context), acceptor_(acceptor), stage_(std::move(stage)) {
    slot_ = context_.loop.watch(stage_.get(), EPOLLIN, *this);
}

PassedAcceptor::~PassedAcceptor() {
    close();
}

void PassedAcceptor::close() {
    if (!stage_) return;
    context_.loop.forget(slot_, stage_.get());
    stage_.reset();
}

void PassedAcceptor::on_ready(uint32_t events, int) {
    if (!stage_) return;
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(stage_.get());
    // Without a free descriptor the kernel delivers the message without the client's socket and closes it.
    // The client sees the end of its connection.
    bool has_ended = passed ? passed->note.empty() : (events & EPOLLHUP) != 0;
    if (has_ended) return close();
    if (!passed) return;
    std::optional<doorman::Destination> destination = doorman::decode(passed->note);
    if (!destination || passed->descriptors.size() != 1) return;
    base::Fd client = std::move(passed->descriptors.front());
    int yes = 1;
    ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::fcntl(client.get(), F_SETFL, O_NONBLOCK);
    acceptor_.admit(std::move(client), endpoint_of(*destination));
}

}  // namespace network::gateway
