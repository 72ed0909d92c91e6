// SPDX-License-Identifier: MIT
// judge FILE: prints which bytes the gateway forwards of each byte string in a file of hexadecimal lines, on
// a connection to good.test: at a port where HTTP is usual and at one where it is not, all at once and byte
// by byte, with a server that answers a TLS hello and with one that requests another.
//
// It prints one line for each string: the different outcomes, as words "answer:passed=HEX" (everything that
// follows is forwarded too), "answer:judged=HEX" (each further request is judged) or "answer:refused=HEX"
// (the bytes forwarded before; the server then gets a reset). With "retry:" for "answer:", the server
// requests another hello.
#include <fstream>
#include <iostream>
#include <set>
#include <string>

#include "network/gateway/connections/client_filter.h"

namespace {

using network::gateway::Guard;

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kAlert("\x15\x03\x03\0\x02\x02\x28", 7);
constexpr std::string_view kRetry(
    "\x16\x03\x03\0\x26\x02\0\0\x22\x03\x03"
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
    43);
constexpr uint16_t kPorts[] = {80, 7777};

std::string to_bytes(const std::string& hexadecimal) {
    std::string bytes;
    for (size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
    return bytes;
}

std::string to_hexadecimal(const std::string& bytes) {
    std::string text;
    for (char letter : bytes) {
        auto byte = static_cast<unsigned char>(letter);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::string_view answer(const Guard& guard, std::string_view to_hello, bool is_git) {
    if (guard.protocol() == "http") return "HTTP/1.1 101 Switching Protocols\r\n\r\n";
    if (guard.protocol() == "tls") return to_hello;
    // To a request of git, a server of another protocol sends nothing before the request ends. A server of
    // PostgreSQL declines TLS.
    return is_git ? "" : "N";
}

std::string outcome(std::string_view bytes, uint16_t port, size_t step, std::string_view to_hello) {
    static const network::Engine engine = *network::Engine::make({});
    Guard guard({.engine = engine, .host = *network::parse_host("good.test"), .port = port},
                network::gateway::HttpStream::Requests::many);
    std::string onward;
    for (size_t at = 0; at < bytes.size() && guard.state() != Guard::State::refused; at += step) {
        std::string_view piece = bytes.substr(at, step);
        if (guard.state() == Guard::State::passed) {
            onward += piece;
            continue;
        }
        guard.take(piece, onward);
        while (guard.state() == Guard::State::waiting_for_reply) {
            std::string_view words = answer(guard, to_hello, bytes.find("git-") == 4);
            if (words.empty()) break;
            guard.take_reply(words, onward);
        }
    }
    if (guard.state() == Guard::State::judging) guard.take_end(onward);
    const char* word = "judged=";
    if (guard.state() == Guard::State::passed) word = "passed=";
    if (guard.state() == Guard::State::refused) word = "refused=";
    return word + to_hexadecimal(onward);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    std::ifstream file(arguments[1]);
    for (std::string line; std::getline(file, line);) {
        std::string bytes = to_bytes(line);
        std::set<std::string> outcomes;
        for (uint16_t port : kPorts) {
            for (std::string_view to_hello : {kAlert, kRetry}) {
                for (size_t step : {std::max<size_t>(bytes.size(), 1), size_t{1}})
                    outcomes.insert((to_hello == kRetry ? "retry:" : "answer:") +
                                    outcome(bytes, port, step, to_hello));
            }
        }
        for (const std::string& word : outcomes) std::cout << word << ' ';
        std::cout << '\n';
    }
    return 0;
}
