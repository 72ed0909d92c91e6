// SPDX-License-Identifier: MIT
#include "cli/ask_gateway.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/format.h"
#include "base/inside/addresses.h"
#include "rules/text/question_text.h"

namespace cli {
namespace {

constexpr struct timeval kSocketTimeout = {.tv_sec = 1, .tv_usec = 0};
constexpr size_t kLongestAnswer = 64u << 10;
constexpr std::string_view kWell = "HTTP/1.1 200 ";
constexpr std::string_view kEmptyLine = "\r\n\r\n";

base::Fd connect_to_gateway() {
    base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return {};
    // SO_SNDTIMEO also limits the time of connect().
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kSocketTimeout, sizeof kSocketTimeout);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kSocketTimeout, sizeof kSocketTimeout);
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(base::kProxyPort);
    constexpr auto kBytes = base::v4_bytes(base::FixedAddress::gateway);
    std::memcpy(&address.sin_addr, kBytes.data(), kBytes.size());
    if (::connect(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0) return {};
    return socket;
}

// A URL path must not contain brackets; encode them.
std::string in_a_path(std::string_view text) {
    std::string path;
    for (char letter : text) {
        if (letter == '[') {
            path += "%5B";
        } else if (letter == ']') {
            path += "%5D";
        } else {
            path += letter;
        }
    }
    return path;
}

std::string answer_to(const std::string& request) {
    base::Fd socket = connect_to_gateway();
    if (!socket || ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return {};
    std::string answer;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket.get(), bytes, sizeof bytes, 0)) > 0;) {
        answer.append(bytes, static_cast<size_t>(count));
        if (answer.size() > kLongestAnswer) return {};
    }
    return answer;
}

}  // namespace

std::optional<network::Verdict> ask_gateway(const network::Question& question) {
    std::string answer = answer_to(
        base::format("GET /why/{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                     in_a_path(network::to_text(question)), base::v4_text(base::FixedAddress::gateway)));
    size_t body = answer.find(kEmptyLine);
    if (!answer.starts_with(kWell) || body == std::string::npos) return std::nullopt;
    base::Result<base::Json> said =
        base::Json::parse(std::string_view(answer).substr(body + kEmptyLine.size()));
    if (!said || !said->is_object()) return std::nullopt;
    std::string decision = said->text("decision");
    network::Verdict verdict{.rule = said->text("rule"),
                             .origin = {.name = said->text("origin")},
                             .reason = said->text("reason"),
                             .change = said->text("change")};
    if (said->truth("allowed")) verdict.decision = network::Decision::allow;
    if (decision == network::to_text(network::Decision::ask)) verdict.decision = network::Decision::ask;
    verdict.is_observed = decision == "observed";
    return verdict;
}

}  // namespace cli
