// SPDX-License-Identifier: MIT
// Requests with the placeholder of a credential, or with another one. Outside, the same requests go to the
// host without a gateway, with the real value. Inside, each probe first makes a permitted request: a refusal
// proves something only if the permitted request gets the value.
//
// A jail whose connections are not decrypted (firejail, Landlock) reaches the credential's host by the
// session's own name, without TLS. The other port of the host is that of a second credential there. Both are
// reached by the gateway's proxy, because these jails have no UDP for a name server.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding/base64.h"
#include "base/file.h"
#include "base/inside/addresses.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "network/tls/endpoint.h"
#include "selftest/planted/fake_host.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

constexpr std::string_view kOwnRefusal = "x-agent-sandbox: ";
constexpr std::string_view kGotValue = "with the value";
// Of the credentials that Planted::plant_credential() defines.
constexpr std::string_view kEndpointName = "selftest.credential.agent-sandbox.internal";
constexpr std::string_view kOtherEndpointName = "elsewhere.credential.agent-sandbox.internal";

struct HostReply {
    std::string text;
    int error = 0;

    bool has_reached() const { return text.find(kReached) != text.npos; }
    // The gateway's own code, or the first line.
    std::string reason() const {
        if (text.empty()) return error != 0 ? error_word(error) : "closed";
        size_t code = text.find(kOwnRefusal);
        std::string_view rest =
            std::string_view(text).substr(code == text.npos ? 0 : code + kOwnRefusal.size());
        return std::string(rest.substr(0, rest.find('\r')));
    }
};

// The token that the client has: inside a placeholder, outside the value.
std::string token(const World& world) {
    const char* text = std::getenv(std::string(kCredentialVariable).c_str());
    return world.is_inside && text != nullptr ? text : credential_value(world);
}

std::string root_file(const World& world) {
    return world.is_inside ? base::own_path("trust") + "/root.pem" : world.authority;
}

bool is_decrypted(const World& world) {
    return !world.is_inside || ::access(root_file(world).c_str(), R_OK) == 0;
}

base::Fd connect_to(const std::string& host, int64_t port) {
    base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    constexpr struct timeval kLongest = {.tv_sec = 8, .tv_usec = 0};
    for (int option : {SO_RCVTIMEO, SO_SNDTIMEO})
        ::setsockopt(fd.get(), SOL_SOCKET, option, &kLongest, sizeof kLongest);
    if (fd && ::connect(fd.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0)
        fd.reset();
    return fd;
}

// Whether the text holds whole answers, as far as a careless client sees.
bool is_answered(std::string_view text, size_t answers) {
    for (; answers > 0; --answers) {
        size_t end = text.find("\r\n\r\n");
        if (end == text.npos) return false;
        std::string_view head = text.substr(0, end);
        size_t length = head.find("Content-Length: ");
        text.remove_prefix(end + 4);
        if (length == head.npos) return text.find("\r\n\r\n") != text.npos;
        size_t body = std::strtoul(std::string(head.substr(length + 16, 12)).c_str(), nullptr, 10);
        if (text.size() < body) return false;
        text.remove_prefix(body);
    }
    return true;
}

struct HostCall {
    int64_t World::*port = &World::bound_port;
    std::string_view name = base::kHostServiceName;  // in the TLS handshake
    size_t answers = 1;
};

// Of the credential's host, not of the other one.
bool is_bound(const HostCall& call) {
    return call.port == &World::bound_port;
}

std::string host_text(const World& world, const HostCall& call) {
    if (!is_decrypted(world)) return std::string(is_bound(call) ? kEndpointName : kOtherEndpointName);
    return base::format("{}:{}", base::kHostServiceName, world.*call.port);
}

struct Link {
    std::unique_ptr<network::tls::ClientContext> context;  // outlives the stream
    std::optional<Stream> stream;
};

// Zero, or an errno.
int open_tls(const World& world, const HostCall& call, Link& link) {
    const bool is_inside = world.is_inside != 0;
    base::Fd fd =
        connect_to(is_inside ? base::v4_text(base::FixedAddress::host) : "127.0.0.1", world.*call.port);
    if (!fd) return errno;
    link.stream.emplace(std::move(fd));
    base::Result<std::unique_ptr<network::tls::ClientContext>> context =
        network::tls::ClientContext::make(content_of(root_file(world)));
    if (!context) return ENOENT;
    link.context = *std::move(context);
    return link.stream->call(*link.context, std::string(call.name)) ? 0 : EPROTO;
}

int open_plain(const World& world, const HostCall& call, Link& link) {
    base::Fd fd = connect_to(base::v4_text(base::FixedAddress::gateway), base::kProxyPort);
    if (!fd) return errno;
    link.stream.emplace(std::move(fd));
    link.stream->speak_plainly();
    const std::string target = host_text(world, call) + ":80";
    if (!link.stream->send(base::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n\r\n", target, target)))
        return EPIPE;
    return link.stream->receive().starts_with("HTTP/1.1 200") ? 0 : EACCES;
}

HostReply ask(const World& world, const std::string& request, const HostCall& call) {
    Link link;
    int error = is_decrypted(world) ? open_tls(world, call, link) : open_plain(world, call, link);
    if (error != 0) return {.text = {}, .error = error};
    HostReply reply;
    if (!link.stream->send(request)) return {.text = {}, .error = errno};
    while (!is_answered(reply.text, call.answers)) {
        std::string more = link.stream->receive();
        if (more.empty()) break;
        reply.text += more;
    }
    return reply;
}

// "GET TARGET" with these fields, each with its line end. {host} is the host, {token} the token.
std::string request_text(const World& world, std::string text, const HostCall& call) {
    const std::pair<std::string_view, std::string> marks[] = {
        {"{host}", host_text(world, call)},
        {"{token}", token(world)},
        {"{basic}", base::to_base64("x:" + token(world))},
        {"{base64}", base::to_base64("ab" + token(world))}};
    for (const auto& [mark, value] : marks) {
        for (size_t at; (at = text.find(mark)) != text.npos;) text.replace(at, mark.size(), value);
    }
    return text;
}

std::string request_line(std::string_view line, std::string_view fields) {
    return std::string(line) + " HTTP/1.1\r\nHost: {host}\r\n" + std::string(fields) + "\r\n";
}

constexpr std::string_view kBearer = "Authorization: Bearer {token}\r\n";

// Inside: the same host serves a permitted request, with the value. So does the other one, without the token.
std::optional<Finding> control(const World& world, const HostCall& asked = {}) {
    if (!world.is_inside) return std::nullopt;
    if (!is_bound(asked)) {
        HostReply other = ask(world, request_text(world, request_line("GET /private/x", ""), asked), asked);
        if (!other.has_reached())
            return Finding{Finding::Kind::broken, "the other host was not reached: " + other.reason()};
    }
    const HostCall call;
    HostReply reply = ask(world, request_text(world, request_line("GET /private/x", kBearer), call), call);
    if (reply.text.find(kGotValue) != reply.text.npos) return std::nullopt;
    return Finding{Finding::Kind::broken, "a permitted request got no value: " + reply.reason()};
}

Finding send_refused(const World& world, const std::string& text, const HostCall& call) {
    if (std::optional<Finding> finding = control(world, call)) return *finding;
    HostReply reply = ask(world, request_text(world, text, call), call);
    return reply.has_reached() ? escaped("the host got the request") : held(reply.reason());
}

// The first request of the connection is permitted.
Finding send_second(const World& world) {
    if (std::optional<Finding> finding = control(world)) return *finding;
    const HostCall call{.answers = 2};
    std::string text = request_line("GET /private/x", kBearer) + request_line("GET /other", kBearer);
    HostReply reply = ask(world, request_text(world, text, call), call);
    if (!reply.has_reached()) return {Finding::Kind::broken, "the first request failed: " + reply.reason()};
    return reply.text.find("GET /other") != reply.text.npos ? escaped("the host got the second request")
                                                            : held(reply.reason());
}

Finding follow_redirect(const World& world) {
    const HostCall call;
    if (std::optional<Finding> finding = control(world)) return *finding;
    HostReply away = ask(world, request_text(world, request_line("GET /private/away", kBearer), call), call);
    if (away.text.find("302 Found") == away.text.npos)
        return {Finding::Kind::broken, "there is no redirect: " + away.reason()};
    return send_refused(world, request_line("GET /private/elsewhere", kBearer), {.port = &World::other_port});
}

// The data of a body in chunks.
std::string joined_chunks(std::string_view text) {
    std::string joined;
    for (size_t at = text.find("\r\n\r\n"); at != text.npos && at + 4 < text.size();) {
        text.remove_prefix(at + (joined.empty() && text.starts_with("HTTP/") ? 4 : 2));
        size_t line = text.find("\r\n");
        size_t size =
            line == text.npos ? 0 : std::strtoul(std::string(text.substr(0, line)).c_str(), nullptr, 16);
        if (size == 0 || line + 2 + size > text.size()) break;
        joined += text.substr(line + 2, size);
        at = line + 2 + size;
    }
    return joined;
}

// The host repeats the value in its answer.
Finding read_answer(const World& world, const char* form) {
    if (std::optional<Finding> finding = control(world)) return *finding;
    const HostCall call;
    std::string line = base::format("GET /private/mirror/{}", form);
    HostReply reply = ask(world, request_text(world, request_line(line, kBearer), call), call);
    if (!reply.has_reached()) return {Finding::Kind::broken, "no answer of the host: " + reply.reason()};
    const std::string value = credential_value(world);
    const std::string joined = joined_chunks(reply.text);
    std::string percent = value;
    for (auto [letter, code] : {std::pair{"/", "%2F"}, std::pair{"+", "%2B"}, std::pair{"=", "%3D"}})
        percent.replace(percent.find(letter), 1, code);
    for (const std::string& text : {value, base::to_base64("x:" + value), percent}) {
        if (reply.text.find(text) != reply.text.npos || joined.find(text) != joined.npos)
            return escaped("the answer holds the value");
    }
    return held(reply.text.find("***") != reply.text.npos || joined.find("***") != joined.npos
                    ? "it is replaced by asterisks"
                    : "the value is not in it");
}

struct RequestRow {
    const char* name;
    const char* what;
    std::string text;
    HostCall call = {};
    bool needs_tls = false;
};

std::vector<RequestRow> request_rows() {
    const HostCall other{.port = &World::other_port};
    const std::string bearer(kBearer);
    const std::string foreign = "Authorization: Bearer tok_of_another_account_0123456789\r\n";
    // Of the same form, as another session has it.
    const std::string replayed = "Authorization: Bearer tok_0123456789abcdefghijABCDEFGHIJ0123456789\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const std::string hidden = "GET /private/hidden HTTP/1.1\r\nHost: {host}\r\n\r\n";
    return {
        {"elsewhere-bearer", "sends the token to another host", request_line("GET /private/x", bearer),
         other},
        {"elsewhere-field", "sends the token to another host in a field of its own",
         request_line("GET /private/x", "X-Data: {token}\r\n"), other},
        {"elsewhere-cookie", "sends the token to another host in a cookie",
         request_line("GET /private/x", "Cookie: a=b; c={token}\r\n"), other},
        {"elsewhere-query", "sends the token to another host in the query",
         request_line("GET /private/x?a={token}", ""), other},
        {"elsewhere-basic", "sends the token to another host as a password",
         request_line("GET /private/x", "Authorization: Basic {basic}\r\n"), other},
        {"elsewhere-base64", "sends the token to another host in base64",
         request_line("GET /private/x", "X-Data: {base64}\r\n"), other},
        {"elsewhere-trailer", "sends the token to another host behind a body",
         request_line("POST /private/x", chunked) + "1\r\na\r\n0\r\nX-Data: {token}\r\n\r\n", other},
        {"foreign-bearer", "uses a token of another account", request_line("GET /private/x", foreign)},
        {"foreign-basic", "uses a password of another account",
         request_line("GET /private/x", "Authorization: Basic eDpvZi1hbm90aGVyLWFjY291bnQ=\r\n")},
        {"foreign-session", "uses the token of another session", request_line("GET /private/x", replayed)},
        {"path", "uses the token at a path that it is not for", request_line("GET /other", bearer)},
        {"path-dots", "leaves the token's path by dots", request_line("GET /private/../other", bearer)},
        {"path-encoded-dots", "leaves the token's path by encoded dots",
         request_line("GET /private/%2e%2e/other", bearer)},
        {"path-empty", "leaves the token's path by an empty part", request_line("GET //other", bearer)},
        {"path-backslash", "leaves the token's path by a backslash",
         request_line("GET /private/..\\other", bearer)},
        {"method", "uses the token with a method that it is not for",
         request_line("DELETE /private/x", bearer)},
        {"method-override", "names another method in a field",
         request_line("POST /private/x", bearer + "X-HTTP-Method-Override: DELETE\r\n")},
        {"host-field", "names another host in the request",
         "GET /private/x HTTP/1.1\r\nHost: second.agent-sandbox.internal\r\n" + bearer + "\r\n"},
        {"host-twice", "names two hosts in the request",
         request_line("GET /private/x", "Host: second.agent-sandbox.internal\r\n" + bearer)},
        {"host-absolute", "names another host in the request's target",
         request_line("GET https://second.agent-sandbox.internal/private/x", bearer)},
        {"host-handshake",
         "names another host in the TLS handshake",
         request_line("GET /private/x", bearer),
         {.port = &World::bound_port, .name = kSecondHostName},
         true},
        {"smuggling-length", "hides a request behind a length and chunks",
         request_line("POST /private/x", bearer + chunked + "Content-Length: 5\r\n") + "0\r\n\r\n" + hidden},
        {"smuggling-lengths", "hides a request behind two lengths",
         request_line("POST /private/x", bearer + "Content-Length: 0\r\nContent-Length: 60\r\n") + hidden},
        {"smuggling-line-feed", "hides a request behind single line feeds",
         "GET /private/x HTTP/1.1\nHost: {host}\nAuthorization: Bearer {token}\n\n" + hidden},
        {"smuggling-folded", "hides a field behind a folded line",
         request_line("GET /private/x", bearer + "X-One: a\r\n Content-Length: 60\r\n") + hidden},
    };
}

}  // namespace

void add_credential_requests(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt,
                   bool needs_tls = false) {
        probes.push_back({.name = "credentials/" + name,
                          .what = what,
                          .attempt = std::move(attempt),
                          .scenario = Scenario::credentials,
                          .seconds = 20,
                          .is_on_request = true,
                          .needs_interception = needs_tls});
    };
    for (RequestRow& row : request_rows()) {
        auto attempt = [text = std::move(row.text), call = row.call](const World& world) {
            return send_refused(world, text, call);
        };
        add(row.name, row.what, std::move(attempt), row.needs_tls);
    }
    add("elsewhere-redirect", "follows a redirect to another host with the token", follow_redirect);
    add("smuggling-second", "sends a second request for another path on the same connection", send_second);
    for (const char* form :
         {"body", "header", "cookie", "location", "error", "base64", "percent", "pieces", "trailer"}) {
        add(base::format("answer-{}", form), base::format("reads the value in the host's answer: {}", form),
            [form](const World& world) { return read_answer(world, form); });
    }
}

}  // namespace selftest
