// SPDX-License-Identifier: MIT
// Properties of both sides of HTTP/2 for any bytes.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "network/http2/client_session.h"
#include "network/http2/server_session.h"

namespace network::http2 {

// Reads the text of one stream as the gateway does.
struct OneRequest {
    std::string text;
    wire::HttpHeadReader head;
    std::string_view broken() {
        switch (head.look(text)) {
            case wire::HttpHeadReader::State::need_more:
                return text.empty() ? "" : "a head is handed out in pieces";
            case wire::HttpHeadReader::State::refused:
                return "";
            case wire::HttpHeadReader::State::complete:
                break;
        }
        wire::HttpBody body(head.request());
        std::string_view rest = std::string_view(text).substr(head.request().head_size);
        const size_t used = body.take(rest);
        if (body.state() == wire::HttpBody::State::malformed) return "a body is malformed";
        return used == rest.size() ? "" : "a stream holds more than one request";
    }
};

// Bytes of a client, behind its preface.
inline const char* broken_for_server(std::string_view input) {
    ServerSession server;
    server.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    std::map<int32_t, OneRequest> requests;
    std::string out;
    constexpr size_t kPiece = 50;
    for (size_t at = 0; at < input.size(); at += kPiece) {
        server.receive(input.substr(at, kPiece));
        while (int32_t stream = server.next_request()) {
            if (!requests.try_emplace(stream).second) return "a stream is handed out twice";
        }
        for (auto& [stream, request] : requests) {
            server.take_request(stream, request.text);
            if (!request.broken().empty()) return request.broken().data();
            if (stream % 4 == 1) server.answer(stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            if (server.is_gone(stream)) server.drop(stream);
        }
        if (server.streams() > 2 * ServerSession::kMostStreams) return "too many streams are kept";
        out.clear();
        server.take_output(out, 1 << 20);
    }
    return nullptr;
}

// Bytes of a server, after a request.
inline const char* broken_for_client(std::string_view input) {
    ClientSession client;
    client.request("GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n");
    std::string out, answer;
    client.take_output(out);
    client.receive(input, answer);
    client.take_output(out);
    std::string_view rest = answer;
    while (!rest.empty()) {
        wire::HttpResponseHead head(false);
        switch (head.look(rest)) {
            case wire::HttpResponseHead::State::need_more:
                return "a head is incomplete";
            case wire::HttpResponseHead::State::refused:
                return client.is_over() ? nullptr : "a malformed head leaves the connection open";
            case wire::HttpResponseHead::State::complete:
                break;
        }
        rest.remove_prefix(head.response().head_size);
        if (head.response().is_upgrade()) return "the protocol is changed";
        if (head.response().is_interim()) continue;
        wire::HttpBody body(head.response().framing, head.response().length);
        rest.remove_prefix(body.take(rest));
        if (body.state() == wire::HttpBody::State::malformed) return "a body is malformed";
        if (!rest.empty() && !client.is_over()) return "bytes follow an answer";
        return nullptr;
    }
    return nullptr;
}

}  // namespace network::http2
