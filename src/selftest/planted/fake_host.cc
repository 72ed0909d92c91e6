// SPDX-License-Identifier: MIT
#include "selftest/planted/fake_host.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <utility>

#include "base/encoding/base64.h"
#include "base/inside/addresses.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/text.h"
#include "network/tls/authority.h"
#include "selftest/attempts/neighbour.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

using network::tls::Endpoint;

constexpr struct timeval kLongestWait = {.tv_sec = 10, .tv_usec = 0};
constexpr size_t kLongestHead = 65536;

enum class Port { bound, other };

struct Host {
    std::string value;
    std::unique_ptr<network::tls::ServerContext> context;
};

// Letters, digits and '_' stay.
std::string percent_form(std::string_view text) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    std::string coded;
    for (char letter : text) {
        bool is_plain = base::is_name_character(letter);
        if (is_plain) {
            coded += letter;
        } else {
            coded += '%';
            coded += kDigits[static_cast<unsigned char>(letter) >> 4];
            coded += kDigits[static_cast<unsigned char>(letter) & 15];
        }
    }
    return coded;
}

// An answer with a length.
std::string answer_with(std::string_view status, std::string_view fields, std::string_view body) {
    return base::format("HTTP/1.1 {}\r\n{}\r\n{}Content-Length: {}\r\n\r\n{}", status, kReached, fields,
                        body.size(), body);
}

// Sends the value back, in the form that the last part of the path names.
std::string mirror(const Host& host, std::string_view form) {
    const std::string& value = host.value;
    constexpr std::string_view kFine = "200 OK";
    if (form == "header") return answer_with(kFine, base::format("X-Seen: {}\r\n", value), "in the head\n");
    if (form == "cookie")
        return answer_with(kFine, base::format("Set-Cookie: a={}\r\n", value), "in a cookie\n");
    if (form == "location")
        return answer_with("302 Found", base::format("Location: https://elsewhere.example/?a={}\r\n", value),
                           "");
    if (form == "base64") return answer_with(kFine, "", base::to_base64("x:" + value));
    if (form == "percent") return answer_with(kFine, "", percent_form(value));
    if (form == "error")
        return answer_with("500 Internal Server Error", "", "the token " + value + " is bad\n");
    std::string head = base::format("HTTP/1.1 200 OK\r\n{}\r\nTransfer-Encoding: chunked\r\n\r\n", kReached);
    if (form == "trailer") return head + "3\r\nend\r\n0\r\nX-Seen: " + value + "\r\n\r\n";
    if (form != "pieces") return answer_with(kFine, "", "seen: " + value + "\n");
    for (char letter : value) head += base::format("1\r\n{}\r\n", std::string(1, letter));
    return head + "0\r\n\r\n";
}

std::string answer_to(const Host& host, Port port, std::string_view head) {
    std::string_view line = head.substr(0, head.find_first_of("\r\n"));
    size_t blank = std::min(line.find(' '), line.size());
    std::string_view target = line.substr(std::min(blank + 1, line.size()));
    target = target.substr(0, target.find(' '));
    constexpr std::string_view kMirror = "/private/mirror/";
    if (target.starts_with(kMirror)) return mirror(host, target.substr(kMirror.size()));
    if (target == "/private/away") return answer_with("302 Found", "Location: /private/elsewhere\r\n", "");
    bool has_value = head.find(host.value) != head.npos;
    return answer_with(
        "200 OK", "",
        base::format("port {}: {} with{} the value\n", static_cast<int>(port), line, has_value ? "" : "out"));
}

// The end of the first head; a careless server accepts single line feeds.
size_t end_of_head(std::string_view text) {
    size_t strict = text.find("\r\n\r\n"), careless = text.find("\n\n");
    if (strict == text.npos && careless == text.npos) return text.npos;
    return strict < careless ? strict + 4 : careless + 2;
}

[[noreturn]] void serve_client(Host& host, Port port, base::Fd fd) {
    constexpr char kTlsHandshake = 22;
    char first = 0;
    bool is_plain = ::recv(fd.get(), &first, 1, MSG_PEEK) == 1 && first != kTlsHandshake;
    Stream stream(std::move(fd));
    if (is_plain) stream.speak_plainly();
    if (!is_plain && !stream.serve(*host.context)) ::_exit(0);
    std::string text;
    for (;;) {
        for (size_t end; (end = end_of_head(text)) != text.npos;) {
            if (!stream.send(answer_to(host, port, std::string_view(text).substr(0, end)))) ::_exit(0);
            text.erase(0, end);
        }
        std::string more = stream.receive();
        if (more.empty() || text.size() > kLongestHead) ::_exit(0);
        text += more;
    }
}

base::Result<std::string> make_context(Host& host) {
    std::time_t now = std::time(nullptr);
    base::Result<network::tls::SessionRoot> root = network::tls::SessionRoot::make(now);
    if (!root) return root.error();
    const std::vector<std::string> names = {std::string(base::kHostServiceName),
                                            std::string(kSecondHostName)};
    base::Result<network::tls::Intermediate> intermediate = root->issue(names, now);
    if (!intermediate) return intermediate.error();
    base::Result<network::tls::LeafIssuer> issuer = network::tls::LeafIssuer::make(*intermediate);
    if (!issuer) return issuer.error();
    base::Result<std::unique_ptr<network::tls::ServerContext>> context = network::tls::ServerContext::make(
        *std::move(issuer), [](std::string_view) { return true; }, [now] { return now; });
    if (!context) return context.error();
    host.context = *std::move(context);
    return root->pem();
}

}  // namespace

std::string credential_value(const World& world) {
    std::string value(world.secret.rbegin(), world.secret.rend());
    return "tok_" + value + "/+=";
}

// ---- Stream

bool Stream::serve(network::tls::ServerContext& context) {
    base::Result<Endpoint> endpoint = Endpoint::server(context);
    if (endpoint) endpoint_ = *std::move(endpoint);
    return endpoint_ && shake();
}

bool Stream::call(network::tls::ClientContext& context, std::string name) {
    base::Result<Endpoint> endpoint = Endpoint::client(context, std::move(name));
    if (!endpoint) return false;
    endpoint_ = *std::move(endpoint);
    endpoint_->receive("");
    return shake();
}

bool Stream::flush() {
    std::string out;
    endpoint_->take_output(out);
    return out.empty() || base::write_all(fd_.get(), out).ok();
}

void Stream::limit_waits() const {
    for (int option : {SO_RCVTIMEO, SO_SNDTIMEO})
        ::setsockopt(fd_.get(), SOL_SOCKET, option, &kLongestWait, sizeof kLongestWait);
}

void Stream::speak_plainly() {
    is_plain_ = true;
    limit_waits();
}

bool Stream::shake() {
    limit_waits();
    while (flush() && endpoint_->state() == Endpoint::State::handshake) {
        char bytes[4096];
        ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
        if (got <= 0) return false;
        endpoint_->receive({bytes, static_cast<size_t>(got)});
    }
    return endpoint_->state() == Endpoint::State::open && flush();
}

bool Stream::send(std::string_view bytes) {
    if (is_plain_) return base::write_all(fd_.get(), bytes).ok();
    return endpoint_ && endpoint_->write(bytes) && flush();
}

std::string Stream::receive() {
    if (is_plain_) {
        char bytes[16384];
        ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
        return got <= 0 ? std::string() : std::string(bytes, static_cast<size_t>(got));
    }
    while (endpoint_) {
        std::string plain;
        if (endpoint_->read(plain) > 0) return plain;
        char bytes[16384];
        ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
        if (got <= 0) break;
        endpoint_->receive({bytes, static_cast<size_t>(got)});
        if (!flush() || endpoint_->state() == Endpoint::State::failed) break;
    }
    return {};
}

// ---- The process

FakeHost::FakeHost(FakeHost&& other) noexcept : process_(std::exchange(other.process_, -1)) {}

base::Status FakeHost::start(World& world) {
    std::vector<base::Fd> listeners;
    for (int64_t World::*port : {&World::bound_port, &World::other_port}) {
        listeners.push_back(listen_at_loopback(world.*port));
        if (!listeners.back()) return base::system_error("listen for the probes of credentials", errno);
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd from(ends[0]), to(ends[1]);
    pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) return base::system_error("start a process", errno);
    if (process_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(0);
        ::setsid();
        std::vector<int> kept = {to.get()};
        std::vector<std::string> words = {"host", world.secret, world.authority, std::to_string(to.get())};
        for (const base::Fd& listener : listeners) {
            kept.push_back(listener.get());
            words.push_back(std::to_string(listener.get()));
        }
        for (int fd : kept) ::fcntl(fd, F_SETFD, 0);
        base::inherit_only(kept);
        execute_part(words, {});
    }
    to.reset();
    char byte;
    if (::read(from.get(), &byte, 1) != 1)
        return base::Error{.what = "the host for the probes of credentials did not start"};
    return base::success();
}

void FakeHost::end() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

int run_fake_host(const std::vector<std::string>& words) {
    constexpr size_t kWords = 6;
    if (words.size() != kWords) return static_cast<int>(base::ExitCode::usage);
    World world{.secret = words[1]};
    Host host{.value = credential_value(world), .context = nullptr};
    base::Result<std::string> root = make_context(host);
    if (!root || !base::write_file_atomically(words[2], *root, 0600)) return 1;
    // Children that serve a client are not waited for.
    ::signal(SIGCHLD, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    base::EventLoop loop;
    for (Port port : {Port::bound, Port::other}) {
        int listener = std::atoi(words[4 + static_cast<size_t>(port)].c_str());
        loop.add({[listener] { return listener; },
                  [&host, listener, port] {
                      base::Fd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
                      if (client && ::fork() == 0) serve_client(host, port, std::move(client));
                  }});
    }
    (void)!::write(std::atoi(words[3].c_str()), "!", 1);
    loop.run();
    return 1;
}

}  // namespace selftest
