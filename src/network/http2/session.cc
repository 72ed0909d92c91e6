// SPDX-License-Identifier: MIT
#include "network/http2/session.h"

#include <malloc.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace network::http2 {
namespace {

void* allocate(size_t size, void*) {
    return std::malloc(size);
}

void release(void* memory, void*) {
    if (memory == nullptr) return;
    ::explicit_bzero(memory, ::malloc_usable_size(memory));
    std::free(memory);
}

void* allocate_zeros(size_t count, size_t size, void*) {
    return std::calloc(count, size);
}

void* reallocate(void* memory, size_t size, void* user) {
    if (memory == nullptr) return allocate(size, user);
    void* larger = std::malloc(size);
    if (larger == nullptr) return nullptr;
    std::memcpy(larger, memory, std::min(size, ::malloc_usable_size(memory)));
    release(memory, user);
    return larger;
}

// Names and values stay valid until the call that gets them returns: nghttp2 copies them. None enters the
// table of HPACK, in which a value would outlive its request.
std::vector<nghttp2_nv> pairs_of(const Fields& fields) {
    auto bytes = [](const std::string& text) {
        return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    std::vector<nghttp2_nv> pairs;
    pairs.reserve(fields.size());
    for (const wire::HttpField& field : fields)
        pairs.push_back({.name = bytes(field.name),
                         .value = bytes(field.value),
                         .namelen = field.name.size(),
                         .valuelen = field.value.size(),
                         .flags = NGHTTP2_NV_FLAG_NO_INDEX});
    return pairs;
}

ssize_t read_body(nghttp2_session* session, int32_t stream, uint8_t* out, size_t size, uint32_t* flags,
                  nghttp2_data_source* source, void*) {
    auto* body = static_cast<Outgoing*>(source->ptr);
    size_t count = std::min(size, body->data.size());
    if (count == 0 && !body->is_complete) {
        body->is_deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    std::copy_n(body->data.data(), count, out);
    body->data.erase(0, count);
    if (!body->data.empty() || !body->is_complete) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (body->trailers.empty()) return static_cast<ssize_t>(count);
    const Fields fields = fields_of_trailers(body->trailers);
    const std::vector<nghttp2_nv> pairs = pairs_of(fields);
    if (pairs.empty()) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    if (nghttp2_submit_trailer(session, stream, pairs.data(), pairs.size()) != 0)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return static_cast<ssize_t>(count);
}

}  // namespace

void FreeSession::operator()(nghttp2_session* session) const {
    nghttp2_session_del(session);
}
void FreeCallbacks::operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
}
void FreeOption::operator()(nghttp2_option* option) const {
    nghttp2_option_del(option);
}

Callbacks make_callbacks() {
    nghttp2_session_callbacks* made = nullptr;
    if (nghttp2_session_callbacks_new(&made) != 0) std::abort();
    return Callbacks(made);
}

Option make_option() {
    nghttp2_option* made = nullptr;
    if (nghttp2_option_new(&made) != 0) std::abort();
    return Option(made);
}

Session make_session(Role role, const Callbacks& callbacks, void* user, const Option& option) {
    static nghttp2_mem memory = {nullptr, allocate, release, allocate_zeros, reallocate};
    nghttp2_session* made = nullptr;
    auto make = role == Role::server ? nghttp2_session_server_new3 : nghttp2_session_client_new3;
    if (make(&made, callbacks.get(), user, option.get(), &memory) != 0) std::abort();
    return Session(made);
}

bool take_frames(nghttp2_session* session, std::string& out, size_t most) {
    while (out.size() < most) {
        const uint8_t* bytes = nullptr;
        ssize_t count = nghttp2_session_mem_send(session, &bytes);
        if (count < 0) return false;
        if (count == 0) return true;
        out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
    }
    return true;
}

int32_t submit(nghttp2_session* session, int32_t stream, const Fields& fields, Outgoing* body) {
    const std::vector<nghttp2_nv> pairs = pairs_of(fields);
    nghttp2_data_provider provider{.source = {.ptr = body}, .read_callback = read_body};
    const nghttp2_data_provider* provided = body == nullptr ? nullptr : &provider;
    if (stream == 0)
        return nghttp2_submit_request(session, nullptr, pairs.data(), pairs.size(), provided, nullptr);
    const int result = nghttp2_submit_response(session, stream, pairs.data(), pairs.size(), provided);
    return result == 0 ? stream : result;
}

bool submit_interim(nghttp2_session* session, int32_t stream, const Fields& fields) {
    const std::vector<nghttp2_nv> pairs = pairs_of(fields);
    return nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, stream, nullptr, pairs.data(), pairs.size(),
                                  nullptr) == 0;
}

void resume(nghttp2_session* session, int32_t stream, Outgoing& body) {
    if (!body.is_deferred) return;
    body.is_deferred = false;
    nghttp2_session_resume_data(session, stream);
}

}  // namespace network::http2
