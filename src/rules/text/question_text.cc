// SPDX-License-Identifier: MIT
#include "rules/text/question_text.h"

#include <charconv>
#include <optional>

namespace network {
namespace {

constexpr uint16_t kUsualPort = 443;

base::Error unreadable(std::string_view text, std::string why) {
    return base::Error{.what = in_quotes(text) + ": " + std::move(why),
                       .advice = "write HOST, HOST:PORT, [ADDRESS]:PORT, udp:HOST:PORT or raw:HOST:PORT",
                       .exit_code = base::ExitCode::usage};
}

// The position of the port's colon, if there is a port. An IPv6 address without brackets has no port.
std::optional<size_t> port_colon(std::string_view text) {
    size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || text.find(']', colon) != std::string_view::npos)
        return std::nullopt;
    bool is_bare_v6 = text.find(':') != colon && !text.starts_with('[');
    return is_bare_v6 ? std::nullopt : std::optional(colon);
}

}  // namespace

base::Result<Question> parse_question(std::string_view text) {
    std::string_view rest = text;
    uint16_t port = kUsualPort;
    Transport transport = Transport::tcp;
    for (Transport prefixed : {Transport::udp, Transport::raw}) {
        std::string prefix = std::string(to_text(prefixed)) + ":";
        // "udp:53" is a host with the name "udp" and its port.
        bool has_host = rest.find_first_not_of("0123456789", prefix.size()) != std::string_view::npos;
        if (!rest.starts_with(prefix) || !has_host) continue;
        transport = prefixed;
        rest.remove_prefix(prefix.size());
        break;
    }
    if (rest.find("://") != std::string_view::npos) return unreadable(text, "it is a URL, not a host");
    if (std::optional<size_t> colon = port_colon(rest)) {
        std::string_view digits = rest.substr(*colon + 1);
        auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
        bool is_port = problem == std::errc() && end == digits.data() + digits.size() && port != 0;
        if (!is_port) return unreadable(text, "the port is not a number between 1 and 65535");
        rest = rest.substr(0, *colon);
    }
    base::Result<Host> host = parse_host(rest);
    if (!host) return unreadable(text, host.error().what);
    return Question{*std::move(host), port, transport};
}

std::string to_text(const Question& question) {
    const auto* address = std::get_if<Address>(&question.host);
    std::string host = address ? address->str() : std::get<HostName>(question.host).str();
    if (address && !address->is_v4()) host = "[" + host + "]";
    bool has_prefix = question.transport != Transport::tcp;
    std::string prefix = has_prefix ? std::string(to_text(question.transport)) + ":" : "";
    return prefix + host + ":" + std::to_string(question.port);
}

}  // namespace network
