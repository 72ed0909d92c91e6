// SPDX-License-Identifier: MIT
#include "rules/text/question_text.h"

#include <optional>

#include "base/format.h"
#include "base/parse.h"

namespace network {
namespace {

constexpr uint16_t kUsualPort = 443;

base::Error unreadable(std::string_view text, const std::string& why) {
    return base::Error{.what = base::format("{}: {}", in_quotes(text), why),
                       .advice = "write HOST, HOST:PORT, [ADDRESS]:PORT, udp:HOST:PORT or raw:HOST:PORT",
                       .exit_code = base::ExitCode::usage};
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
    if (std::optional<size_t> colon = base::find_port_colon(rest)) {
        port = base::parse_number<uint16_t>(rest.substr(*colon + 1)).value_or(0);
        if (port == 0) return unreadable(text, "the port is not a number between 1 and 65535");
        rest = rest.substr(0, *colon);
    }
    base::Result<Host> host = parse_host(rest);
    if (!host) return unreadable(text, host.error().what);
    return Question{*std::move(host), port, transport};
}

std::string to_text(const Question& question) {
    const auto* address = std::get_if<Address>(&question.host);
    std::string host = address ? address->str() : std::get<HostName>(question.host).str();
    bool has_prefix = question.transport != Transport::tcp;
    std::string prefix = has_prefix ? std::string(to_text(question.transport)) + ":" : "";
    return prefix + base::with_port(host, question.port);
}

}  // namespace network
