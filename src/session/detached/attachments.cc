// SPDX-License-Identifier: MIT
#include "session/detached/attachments.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/process/descriptors.h"
#include "session/detached/holder.h"

namespace session {
namespace {

constexpr std::string_view kTerminal = "terminal";

bool is_stream(int descriptor) {
    int type = 0, domain = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
           ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

}  // namespace

Attachments::Attachments(Parts parts) : parts_(std::move(parts)) {
    parts_.control.handle_visits("attach", [this](const base::Json& request, Control::Visitor visitor) {
        pass_on(request, std::move(visitor));
    });
    if (parts_.holder < 0) return;
    parts_.control.watch(parts_.holder, [this] { hear(); });
    parts_.directory.update(kTerminal, kDetached);
}

Attachments::~Attachments() {
    forget_holder();
}

void Attachments::forget_holder() {
    if (parts_.holder >= 0) parts_.control.forget(std::exchange(parts_.holder, -1));
}

void Attachments::pass_on(const base::Json& request, Control::Visitor visitor) {
    auto refuse = [&](const base::Error& error) {
        const std::string text = refusal(error).dump(-1);
        (void)!::send(visitor.connection.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    };
    if (parts_.holder < 0)
        return refuse({.what = "the session was not started with --detach, so its terminal is its caller's",
                       .advice = "agent-sandbox exec runs a further command in it"});
    if (visitor.descriptors.size() != 1 || !is_stream(visitor.descriptors[0].get()))
        return refuse({.what = "the request has not the stream of a terminal"});
    // Nothing else of the request reaches the holder.
    base::Json passed = base::Json::object();
    passed.set("take", request.truth("take")).set("rows", request.number("rows"));
    passed.set("columns", request.number("columns"));
    const int descriptors[] = {visitor.connection.get(), visitor.descriptors[0].get()};
    if (base::Status sent = base::send_descriptors(parts_.holder, passed.dump(-1), descriptors); !sent)
        refuse(sent.error());
}

void Attachments::hear() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(parts_.holder);
    if (!passed && (errno == EAGAIN || errno == EINTR)) return;
    if (!passed || passed->note.empty()) {
        forget_holder();
        return parts_.on_lost();
    }
    const bool is_attached = passed->note == kAttached;
    parts_.directory.update(kTerminal, is_attached ? kAttached : kDetached);
}

}  // namespace session
