// SPDX-License-Identifier: MIT
// For bench/credentials: a TLS server whose answers cost little, and clients that count.
//
//   load serve ADDRESS PORT CERTIFICATE KEY
//   load ask ADDRESS PORT NAME ROOTS CLIENTS SECONDS KIND [SERVER-PORT [FIELD]]
//
// KIND is connections (each with one request), requests (over kept connections), bytes (one endless answer
// each) or held (one request each, then the connections stay for the time). With FIELD, ADDRESS is a proxy
// that gets CONNECT with this header field. Prints: count, bytes, seconds, median in microseconds, failures.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

sockaddr_in address_of(const std::string& text, const std::string& port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(port)));
    if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) fail(text.c_str());
    return address;
}

int new_socket() {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    timeval patience{.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

// Reads to the end of a head; true if there is one. `rest` keeps the bytes after it.
bool read_head(SSL* tls, std::string& rest, std::string& head) {
    char room[16384];
    size_t end = 0;
    while ((end = rest.find("\r\n\r\n")) == std::string::npos) {
        int count = SSL_read(tls, room, sizeof room);
        if (count <= 0) return false;
        rest.append(room, static_cast<size_t>(count));
    }
    head = rest.substr(0, end + 4);
    rest.erase(0, end + 4);
    return true;
}

void answer(SSL_CTX* context, int fd) {
    static const std::string block(16384, 'x');
    SSL* tls = SSL_new(context);
    SSL_set_fd(tls, fd);
    std::string rest, head;
    bool is_open = SSL_accept(tls) == 1;
    while (is_open && read_head(tls, rest, head)) {
        bool is_endless = head.starts_with("GET /endless ");
        std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: ";
        reply += is_endless ? "1000000000000\r\n\r\n" : "100\r\n\r\n" + std::string(100, 'x');
        is_open = SSL_write(tls, reply.data(), static_cast<int>(reply.size())) > 0;
        while (is_open && is_endless)
            is_open = SSL_write(tls, block.data(), static_cast<int>(block.size())) > 0;
    }
    SSL_free(tls);
    close(fd);
}

void serve(char** words) {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, words[2]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, words[3], SSL_FILETYPE_PEM) != 1)
        fail(words[2]);
    sockaddr_in address = address_of(words[0], words[1]);
    int listener = new_socket();
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, 1024) != 0)
        fail("listen");
    while (true) {
        int fd = accept(listener, nullptr, nullptr), on = 1;
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(answer, context, fd).detach();
    }
}

struct Plan {
    sockaddr_in address;
    std::string name, port, kind, proxy;
    SSL_CTX* context;
};

struct Client {
    const Plan& plan;
    int fd = -1;
    SSL* tls = nullptr;
    std::string rest;

    bool open() {
        fd = new_socket();
        if (connect(fd, reinterpret_cast<const sockaddr*>(&plan.address), sizeof plan.address) != 0)
            return false;
        if (!plan.proxy.empty()) {
            std::string line = "CONNECT " + plan.name + ":" + plan.port + " HTTP/1.1\r\nHost: " + plan.name +
                               ":" + plan.port + "\r\n" + plan.proxy + "\r\n";
            char room[4096];
            if (send(fd, line.data(), line.size(), MSG_NOSIGNAL) < 0) return false;
            ssize_t count = recv(fd, room, sizeof room, 0);
            if (count < 12 || std::string(room + 9, 3) != "200") return false;
        }
        tls = SSL_new(plan.context);
        SSL_set_fd(tls, fd);
        SSL_set_tlsext_host_name(tls, plan.name.c_str());
        SSL_set1_host(tls, plan.name.c_str());
        return SSL_connect(tls) == 1;
    }
    void end() {
        if (tls != nullptr) SSL_set_quiet_shutdown(tls, 1);
        SSL_free(tls);
        if (fd >= 0) close(fd);
        tls = nullptr;
        fd = -1;
        rest.clear();
    }
    // The key is the placeholder of the variable, where there is one.
    bool ask(std::atomic<uint64_t>& bytes, Clock::time_point until) {
        static const char* key = std::getenv("BENCH_TOKEN");
        std::string host = plan.name + (plan.port == "443" ? "" : ":" + plan.port);
        std::string head = std::string("GET ") + (plan.kind == "bytes" ? "/endless" : "/") +
                           " HTTP/1.1\r\nHost: " + host +
                           "\r\nX-Api-Key: " + (key != nullptr ? key : "none") + "\r\nAccept: */*\r\n\r\n";
        if (SSL_write(tls, head.data(), static_cast<int>(head.size())) <= 0 || !read_head(tls, rest, head))
            return false;
        if (!head.starts_with("HTTP/1.1 200")) {
            std::fprintf(stderr, "%s\n", head.c_str());
            return false;
        }
        char room[65536];
        while (plan.kind == "bytes" ? Clock::now() < until : rest.size() < 100) {
            int count = SSL_read(tls, room, sizeof room);
            if (count <= 0) return false;
            bytes += static_cast<uint64_t>(count);
            if (plan.kind != "bytes") rest.append(room, static_cast<size_t>(count));
        }
        rest.clear();
        return true;
    }
};

void ask(char** words, int count) {
    Plan plan{address_of(words[0], words[1]),  words[2], words[1], words[6], "",
              SSL_CTX_new(TLS_client_method())};
    if (SSL_CTX_load_verify_file(plan.context, words[3]) != 1) fail(words[3]);
    SSL_CTX_set_verify(plan.context, SSL_VERIFY_PEER, nullptr);
    if (count > 7) plan.port = words[7];
    if (count > 8) plan.proxy = std::string(words[8]) + "\r\n";
    std::atomic<uint64_t> done{0}, bytes{0}, failed{0};
    std::mutex lock;
    std::vector<double> times;
    Clock::time_point start = Clock::now();
    Clock::time_point until = start + std::chrono::milliseconds(static_cast<int>(std::atof(words[5]) * 1000));
    std::vector<std::thread> clients;
    for (int i = 0; i < std::atoi(words[4]); ++i) {
        clients.emplace_back([&] {
            Client client{plan};
            std::vector<double> own;
            while (Clock::now() < until) {
                Clock::time_point before = Clock::now();
                bool is_done = (client.fd >= 0 || client.open()) && client.ask(bytes, until);
                if (!is_done) {
                    ++failed;
                    client.end();
                    std::this_thread::sleep_for(std::chrono::milliseconds(10));
                    continue;
                }
                own.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
                ++done;
                if (plan.kind == "held") {
                    std::this_thread::sleep_until(until);
                    break;
                }
                if (plan.kind != "requests") client.end();
            }
            std::lock_guard guard(lock);
            times.insert(times.end(), own.begin(), own.end());
        });
    }
    for (std::thread& client : clients) client.join();
    double took = std::chrono::duration<double>(Clock::now() - start).count();
    std::sort(times.begin(), times.end());
    std::printf("%lu %lu %.3f %.1f %lu\n", done.load(), bytes.load(), took,
                times.empty() ? 0 : times[times.size() / 2], failed.load());
}

}  // namespace

int main(int count, char** words) {
    std::signal(SIGPIPE, SIG_IGN);
    if (count >= 6 && std::string(words[1]) == "serve") serve(words + 2);
    if (count >= 9 && std::string(words[1]) == "ask") {
        ask(words + 2, count - 2);
        return 0;
    }
    std::fputs(
        "load serve ADDRESS PORT CERTIFICATE KEY | load ask ADDRESS PORT NAME ROOTS CLIENTS SECONDS KIND "
        "[PORT [HEAD]]\n",
        stderr);
    return 2;
}
