// SPDX-License-Identifier: MIT
// What both sides of HTTP/2 share: nghttp2 with an allocator that overwrites what it frees, because header
// fields hold values of credentials, and its output.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/secret_value.h"
#include "network/http2/heads.h"

struct nghttp2_session;
struct nghttp2_session_callbacks;
struct nghttp2_option;

namespace network::http2 {

struct FreeSession {
    void operator()(nghttp2_session* session) const;
};
struct FreeCallbacks {
    void operator()(nghttp2_session_callbacks* callbacks) const;
};
struct FreeOption {
    void operator()(nghttp2_option* option) const;
};
using Session = std::unique_ptr<nghttp2_session, FreeSession>;
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks>;
using Option = std::unique_ptr<nghttp2_option, FreeOption>;

Callbacks make_callbacks();
Option make_option();
enum class Role { client, server };
Session make_session(Role role, const Callbacks& callbacks, void* user, const Option& option);

// Appends what nghttp2 has to send, as long as there are fewer than `most` bytes. False: it failed.
bool take_frames(nghttp2_session* session, std::string& out, size_t most);

// The data of a body that waits for the other side's windows.
struct Outgoing {
    Outgoing() = default;
    Outgoing(const Outgoing&) = delete;
    Outgoing& operator=(const Outgoing&) = delete;
    ~Outgoing() { base::wipe(data); }

    std::string data;
    std::string trailers;  // lines
    bool is_complete = false;
    bool is_deferred = false;  // nghttp2 asked and there was nothing
};

// Starts a request (stream 0) or the final answer of a stream, with `body` unless it is null. Returns the
// number of the stream, or a negative one.
int32_t submit(nghttp2_session* session, int32_t stream, const Fields& fields, Outgoing* body);
bool submit_interim(nghttp2_session* session, int32_t stream, const Fields& fields);
// There are new bytes in it, or its end.
void resume(nghttp2_session* session, int32_t stream, Outgoing& body);

}  // namespace network::http2
