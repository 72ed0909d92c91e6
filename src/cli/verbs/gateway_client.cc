// SPDX-License-Identifier: MIT
#include "cli/verbs/gateway_client.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstring>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/inside/addresses.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "network/exchange/spec.h"

namespace cli {
namespace {

constexpr size_t kLargestAnswer = 64u << 10;
constexpr std::chrono::seconds kLongestRequest{25};
constexpr std::string_view kEndOfHead = "\r\n\r\n";

base::Fd connect_to_gateway(std::chrono::seconds longest) {
    base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return {};
    // SO_SNDTIMEO also limits the time of connect().
    const struct timeval timeout = {.tv_sec = longest.count(), .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(base::kProxyPort);
    constexpr auto kBytes = base::v4_bytes(base::FixedAddress::gateway);
    std::memcpy(&address.sin_addr, kBytes.data(), kBytes.size());
    if (::connect(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0) return {};
    return socket;
}

}  // namespace

std::string ask_gateway(const std::string& request, std::chrono::seconds longest) {
    base::Fd socket = connect_to_gateway(longest);
    if (!socket || ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return {};
    std::string answer;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket.get(), bytes, sizeof bytes, 0)) > 0;) {
        answer.append(bytes, static_cast<size_t>(count));
        if (answer.size() > kLargestAnswer) break;
    }
    return answer;
}

// Makes a request to the first host of a credential and prints the status, and the reason of a refusal.
// `secret test` runs it in a jail.
int request_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    if (words.size() != 3)
        return call.output.fail({.what = "__request needs a credential, a method and a path"});
    std::string host = base::format("{}{}", words[0], network::exchange::kEndpointSuffix);
    std::string answer = ask_gateway(
        base::format("{} http://{}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: agent-sandbox\r\nAccept: */*\r\n"
                     "Connection: close\r\n\r\n",
                     words[1], host, words[2], host),
        kLongestRequest);
    constexpr std::string_view kStart = "HTTP/1.1 ";
    constexpr size_t kStatus = 3;
    if (!answer.starts_with(kStart)) return call.output.fail({.what = "no answer came within 25 seconds"});
    std::string line = answer.substr(kStart.size(), kStatus);
    // The gateway's own refusal has a reason.
    size_t body = answer.find(kEndOfHead);
    bool is_ours = base::lower(answer.substr(0, body)).find("\r\nx-agent-sandbox:") != std::string::npos;
    if (is_ours && body != std::string::npos) {
        base::Result<base::Json> said =
            base::Json::parse(std::string_view(answer).substr(body + kEndOfHead.size()));
        if (said && !said->text("reason").empty()) line += " " + base::printable(said->text("reason"));
    }
    return call.output.result(line + "\n");
}

}  // namespace cli
