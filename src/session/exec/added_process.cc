// SPDX-License-Identifier: MIT
#include "session/exec/added_process.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/process/descriptors.h"
#include "session/exec/exec_messages.h"

namespace session {

base::Result<AddedProcess> AddedProcess::start(const Known& known, const AddedCall& call,
                                               std::array<base::Fd, 3> standard) {
    base::Result<std::string> text = encode(ExecRequest{.call = call});
    if (!text) return text.error();
    base::Result<base::Fd> connection = connect_to_session(known);
    if (!connection) return connection.error();
    const int descriptors[] = {standard[0].get(), standard[1].get(), standard[2].get()};
    const int number = base::send_with_descriptors(connection->get(), *text, descriptors, MSG_DONTWAIT);
    // A session that refuses this process has replied already.
    if (number != 0 && number != EPIPE && number != ECONNRESET)
        return base::system_error("pass the command to the session", number);
    return AddedProcess(known, *std::move(connection));
}

void AddedProcess::hear() {
    std::string text(kLargestControlMessage, '\0');
    const ssize_t got = ::recv(connection_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    const ExecAnswer answer = got <= 0 ? exec_answer_of_end(*known_, has_started_) : decode_exec_answer(text);
    ending_ = answer.ending;
    failure_ = answer.failure;
    has_started_ = true;
}

void AddedProcess::send_signal(int signal) const {
    const std::string text = encode_signal(signal, true);
    (void)!::send(connection_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace session
