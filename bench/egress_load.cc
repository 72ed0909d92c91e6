// SPDX-License-Identifier: MIT
// A load generator and its server, for bench/egress.
//
//   egress_load serve ADDRESS PORT          answers "GET /N" with N bytes; keeps the connection
//   egress_load stream BYTES WAY HOST PORT  one large answer: MB/s
//   egress_load first COUNT WAY HOST PORT   one connection after the other: microseconds to the first byte,
//                                           median and 99th
//   egress_load idle COUNT WAY HOST PORT    opens them, sends one request on each, prints "ready", waits
//   egress_load tunnels SECONDS CLIENTS WAY HOST PORT   a connection for each request of a byte
//   egress_load requests SECONDS CLIENTS WAY HOST PORT  a connection for each client, kept
//                                           both: how many requests a second, and how many failed
//
// WAY is "direct", which connects to HOST directly, or ADDRESS:PORT of a proxy that receives CONNECT.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "egress_load: %s: %s\n", what.c_str(), std::strerror(errno));
    std::exit(1);
}

bool send_all(int connection, const char* data, size_t size) {
    while (size > 0) {
        const ssize_t sent = send(connection, data, size, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        data += sent;
        size -= static_cast<size_t>(sent);
    }
    return true;
}
bool send_all(int connection, const std::string& text) {
    return send_all(connection, text.data(), text.size());
}

// ---- The server ----------------------------------------------------------------------------------------

void answer(int connection) {
    static const std::vector<char> zeros(1 << 20);
    std::string request;
    char buffer[4096];
    for (;;) {
        const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
        if (got <= 0) break;
        request.append(buffer, static_cast<size_t>(got));
        if (request.find("\r\n\r\n") == std::string::npos) continue;
        size_t left = request.size() > 5 ? std::strtoull(request.c_str() + 5, nullptr, 10) : 0;
        request.clear();
        std::string head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(left) + "\r\n\r\n";
        if (left <= 64) {
            head.append(left, 'x');
            left = 0;
        }
        if (!send_all(connection, head)) break;
        bool is_well = true;
        while (left > 0 && is_well) {
            const size_t part = std::min(left, zeros.size());
            is_well = send_all(connection, zeros.data(), part);
            left -= part;
        }
        if (!is_well) break;
    }
    close(connection);
}

int serve(const char* address, const char* port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
    inet_pton(AF_INET, address, &where.sin_addr);
    const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0 || listen(listener, 4096) != 0)
        give_up("listen");
    for (;;) {
        const int connection = accept(listener, nullptr, nullptr);
        if (connection < 0) continue;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        std::thread(answer, connection).detach();
    }
}

// ---- The client ----------------------------------------------------------------------------------------

struct Target {
    std::string host, port;
    bool by_connect = false;
    sockaddr_storage first_hop{};
    socklen_t size = 0;
};

Target target_of(const std::string& way, const std::string& host, const std::string& port) {
    Target target{host, port, way != "direct", {}, 0};
    const size_t colon = way.rfind(':');
    const std::string hop = target.by_connect ? way.substr(0, colon) : host;
    const std::string hop_port = target.by_connect ? way.substr(colon + 1) : port;
    addrinfo hints{}, *found = nullptr;
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(hop.c_str(), hop_port.c_str(), &hints, &found) != 0) give_up("look up " + hop);
    std::memcpy(&target.first_hop, found->ai_addr, found->ai_addrlen);
    target.size = found->ai_addrlen;
    freeaddrinfo(found);
    return target;
}

// Reads a head; the bytes after it stay in `rest`.
bool read_head(int connection, std::string& rest) {
    char buffer[65536];
    size_t end;
    rest.clear();
    while ((end = rest.find("\r\n\r\n")) == std::string::npos) {
        const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
        if (got <= 0) return false;
        rest.append(buffer, static_cast<size_t>(got));
    }
    const bool is_good = rest.compare(9, 3, "200") == 0;
    rest.erase(0, end + 4);
    return is_good;
}

int open_tunnel(const Target& target) {
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // A relay that never answers counts as failed and does not block the others.
    const timeval patience{10, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(connection, reinterpret_cast<const sockaddr*>(&target.first_hop), target.size) != 0) {
        close(connection);
        return -1;
    }
    if (!target.by_connect) return connection;
    const std::string authority = target.host + ":" + target.port;
    std::string rest;
    if (send_all(connection, "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n") &&
        read_head(connection, rest)) {
        return connection;
    }
    close(connection);
    return -1;
}

bool ask(int connection, const Target& target, size_t bytes) {
    return send_all(connection, "GET /" + std::to_string(bytes) + " HTTP/1.1\r\nHost: " + target.host + ":" +
                                    target.port + "\r\n\r\n");
}

bool exchange_once(const Target& target) {
    const int connection = open_tunnel(target);
    if (connection < 0) return false;
    std::string rest;
    const bool is_good = ask(connection, target, 1) && read_head(connection, rest);
    // A reset leaves no port in TIME_WAIT.
    const linger at_once{1, 0};
    setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(connection);
    return is_good;
}

int stream(size_t bytes, const Target& target) {
    const int connection = open_tunnel(target);
    if (connection < 0) give_up("connect");
    const auto start = Clock::now();
    std::string rest;
    if (!ask(connection, target, bytes) || !read_head(connection, rest)) give_up("ask");
    std::vector<char> buffer(1 << 20);
    size_t got = rest.size();
    while (got < bytes) {
        const ssize_t part = recv(connection, buffer.data(), buffer.size(), MSG_TRUNC);
        if (part <= 0) give_up("receive");
        got += static_cast<size_t>(part);
    }
    std::printf("%.0f\n", static_cast<double>(bytes) / 1e6 / seconds_since(start));
    return 0;
}

// The repeated action of a client; false if it failed.
using Step = std::function<bool()>;

// Runs this many clients at the same time, each with its own step, until the time is over. Prints the steps a
// second and the number of failures.
int rate(double seconds, int clients, const std::function<Step()>& make_step) {
    std::atomic<uint64_t> done{0}, failed{0};
    std::vector<std::thread> threads;
    const auto start = Clock::now();
    for (int client = 0; client < clients; ++client) {
        threads.emplace_back([&] {
            const Step step = make_step();
            while (seconds_since(start) < seconds) {
                if (step()) {
                    ++done;
                } else if (++failed > 1000) {
                    break;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%.0f %llu\n", static_cast<double>(done) / seconds_since(start),
                static_cast<unsigned long long>(failed));
    return done > 0 ? 0 : 1;
}

int tunnels(double seconds, int clients, const Target& target) {
    return rate(seconds, clients, [&]() -> Step { return [&] { return exchange_once(target); }; });
}

int requests(double seconds, int clients, const Target& target) {
    return rate(seconds, clients, [&]() -> Step {
        const int connection = open_tunnel(target);
        if (connection < 0) give_up("connect");
        return [&target, connection, rest = std::string()]() mutable {
            if (!ask(connection, target, 1) || !read_head(connection, rest)) return false;
            // The byte of the body may arrive alone, and must not be read as part of the next answer.
            char byte;
            return !rest.empty() || recv(connection, &byte, 1, 0) == 1;
        };
    });
}

int first_bytes(int count, const Target& target) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
        const auto start = Clock::now();
        if (exchange_once(target)) times.push_back(seconds_since(start) * 1e6);
    }
    if (times.empty()) give_up("no exchange succeeded");
    std::sort(times.begin(), times.end());
    std::printf("%.0f %.0f\n", times[times.size() / 2], times[times.size() * 99 / 100]);
    return 0;
}

int idle(int count, const Target& target) {
    std::string rest;
    for (int i = 0; i < count; ++i) {
        const int connection = open_tunnel(target);
        if (connection < 0 || !ask(connection, target, 1) || !read_head(connection, rest))
            give_up("tunnel " + std::to_string(i));
    }
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto number = [&](size_t at) { return std::atof(words[at].c_str()); };
    const auto target = [&](size_t at) { return target_of(words[at], words[at + 1], words[at + 2]); };
    if (words.size() == 3 && words[0] == "serve") return serve(argv[2], argv[3]);
    if (words.size() == 5 && words[0] == "stream") return stream(static_cast<size_t>(number(1)), target(2));
    if (words.size() == 6 && words[0] == "tunnels")
        return tunnels(number(1), static_cast<int>(number(2)), target(3));
    if (words.size() == 6 && words[0] == "requests")
        return requests(number(1), static_cast<int>(number(2)), target(3));
    if (words.size() == 5 && words[0] == "first") return first_bytes(static_cast<int>(number(1)), target(2));
    if (words.size() == 5 && words[0] == "idle") return idle(static_cast<int>(number(1)), target(2));
    std::fputs("egress_load: see the top of the file\n", stderr);
    return 2;
}
