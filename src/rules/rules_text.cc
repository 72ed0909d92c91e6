// SPDX-License-Identifier: MIT
#include "rules/rules_text.h"

#include <optional>

#include "base/parse.h"
#include "base/text.h"

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

template <>
inline constexpr config::Layer base::kLast<config::Layer> = config::Layer::command_line;

template <>
inline constexpr auto base::kFields<network::LiveSettings> = std::tuple(&network::LiveSettings::rules,
                                                                        &network::LiveSettings::passed_types);

namespace base {

void OwnEncoding<config::Origin>::write(FieldWriter& writer, const config::Origin& origin) {
    base::write(writer, origin.layer);
    base::write(writer, origin.describe());
}

void OwnEncoding<config::Origin>::read(FieldReader& reader, config::Origin& origin) {
    origin = {};
    base::read(reader, origin.layer);
    base::read(reader, origin.name);
}

}  // namespace base

namespace network {
namespace {

constexpr std::string_view kVersion = "agent-sandbox rules 1";

}  // namespace

std::string encode_settings(const EngineSettings& rules, const std::vector<uint16_t>& passed_types) {
    return base::encode_message(kVersion, LiveSettings{rules, passed_types});
}

base::Result<LiveSettings> decode_settings(std::string_view text) {
    LiveSettings settings;
    base::Decoded decoded = base::decode_message(kVersion, text, settings);
    if (decoded == base::Decoded::other) return base::Error{.what = "the rules are of another version"};
    if (decoded == base::Decoded::damaged) return base::Error{.what = "the rules are damaged"};
    return settings;
}

namespace {

constexpr const char* kAdministratorsFile = "/etc/agent-sandbox/config.toml";

bool is_shipped(const Rule& rule) {
    return rule.side == Side::block && rule.origin.layer == config::Layer::builtin;
}

// An entry for the host itself decides before wider entries and before the shipped list. An entry for one
// port of the host decides before the user's own entry for all ports.
std::string change_against(const Rule& rule, const ConnectionAttempt& attempt) {
    if (rule.origin.layer == config::Layer::admin || !attempt.name || attempt.transport == Transport::udp)
        return {};
    if (attempt.transport == Transport::raw)
        return rule.target == Target::host && rule.names_ports() ? "" : allow_line(entry_for(attempt));
    if (is_shipped(rule) || rule.target != Target::host) return "--allow-host " + attempt.name->str();
    bool can_be_narrower = !rule.names_ports();
    return can_be_narrower ? allow_line(base::with_port(attempt.name->str(), attempt.port)) : "";
}

std::string advice_against(const Rule& rule) {
    if (rule.origin.layer == config::Layer::admin) return kAskAdministrator;
    if (is_shipped(rule))
        return base::format("if it is needed, open it with network.allow = [\"{}\"]", rule.text);
    return "remove the entry, or add a more specific one to network.allow";
}

}  // namespace

std::string allow_line(std::string_view entry) {
    return base::format("network.allow = [\"{}\"]", entry);
}

std::string name_of(const Rule& rule) {
    return rule.bundle.empty() ? rule.text : base::format("@{}: {}", rule.bundle, rule.text);
}

Verdict verdict_by(const Rule& rule, const ConnectionAttempt& attempt) {
    bool is_allowed = rule.side == Side::allow;
    std::string reason = rule.reason;
    if (reason.empty()) reason = is_allowed ? "network.allow opens it" : "network.block closes it";
    return Verdict{.decision = is_allowed ? Decision::allow : Decision::deny,
                   .cause = is_shipped(rule) ? Cause::shipped_list : Cause::rule,
                   .rule = name_of(rule),
                   .origin = rule.origin,
                   .reason = std::move(reason),
                   .advice = is_allowed ? std::string() : advice_against(rule),
                   .change = is_allowed ? std::string() : change_against(rule, attempt)};
}

Verdict raw_refusal(const Host& host, uint16_t port, std::string reason) {
    ConnectionAttempt attempt{.name = std::get_if<HostName>(&host),
                              .address = std::get_if<Address>(&host),
                              .port = port,
                              .transport = Transport::raw};
    std::string change = allow_line(entry_for(attempt));
    return Verdict{.cause = Cause::protocol,
                   .reason = std::move(reason),
                   .advice = base::format("if it is needed, {} lets it through unread", change),
                   .change = change};
}

std::string entry_for(const ConnectionAttempt& attempt) {
    std::string host = attempt.name ? attempt.name->str() : attempt.address->str();
    if (attempt.transport == Transport::tcp) return host;
    return base::format("{}:{}", to_text(attempt.transport), base::with_port(host, attempt.port));
}

std::string change_for(const ConnectionAttempt& attempt) {
    bool has_flag = attempt.name && attempt.transport == Transport::tcp;
    return has_flag ? "--allow-host " + attempt.name->str() : allow_line(entry_for(attempt));
}

std::string advice_for_port(const ConnectionAttempt& attempt) {
    std::string entry = entry_for(attempt);
    if (attempt.transport == Transport::tcp) entry = base::with_port(entry, attempt.port);
    return base::format("{}: {} in {}", kAskAdministrator, allow_line(entry), kAdministratorsFile);
}

std::string_view to_text(Decision decision) {
    switch (decision) {
        case Decision::allow:
            return "allow";
        case Decision::deny:
            return "deny";
        case Decision::ask:
            return "ask";
        case Decision::inject:
            return "inject";
    }
    return "";
}

std::string_view to_text(Cause cause) {
    switch (cause) {
        case Cause::mode:
            return "mode";
        case Cause::rule:
            return "rule";
        case Cause::shipped_list:
            return "shipped list";
        case Cause::port_floor:
            return "port floor";
        case Cause::address_floor:
            return "address floor";
        case Cause::literal:
            return "literal address";
        case Cause::udp:
            return "udp";
        case Cause::ask:
            return "ask";
        case Cause::protocol:
            return "protocol";
    }
    return "";
}

}  // namespace network
