// SPDX-License-Identifier: MIT
#include "network/tls/memory_bio.h"

#include <openssl/bio.h>

#include <algorithm>
#include <cstring>

namespace network::tls {
namespace {

MemoryBuffer& buffer_of(BIO* bio) {
    return *static_cast<MemoryBuffer*>(BIO_get_data(bio));
}

int write_bytes(BIO* bio, const char* bytes, size_t size, size_t* written) {
    BIO_clear_retry_flags(bio);
    buffer_of(bio).append({bytes, size});
    *written = size;
    return 1;
}

// Without bytes OpenSSL has to try again later.
int read_bytes(BIO* bio, char* bytes, size_t size, size_t* read) {
    BIO_clear_retry_flags(bio);
    MemoryBuffer& buffer = buffer_of(bio);
    std::string_view waiting = buffer.waiting();
    *read = std::min(size, waiting.size());
    if (*read == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    std::memcpy(bytes, waiting.data(), *read);
    buffer.drop(*read);
    return 1;
}

long control(BIO* bio, int command, long, void*) {
    switch (command) {
        case BIO_CTRL_FLUSH:
            return 1;
        case BIO_CTRL_PENDING:
            return static_cast<long>(buffer_of(bio).waiting().size());
        default:
            return 0;
    }
}

// One for the process. It is never freed, as the library itself.
const BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
        BIO_METHOD* one = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffer");
        bool is_made = one != nullptr && BIO_meth_set_write_ex(one, write_bytes) == 1 &&
                       BIO_meth_set_read_ex(one, read_bytes) == 1 && BIO_meth_set_ctrl(one, control) == 1;
        return is_made ? one : nullptr;
    }();
    return made;
}

}  // namespace

void MemoryBuffer::append(std::string_view bytes) {
    // A buffer that is never quite empty must not grow for ever.
    if (at_ > bytes_.size() / 2) {
        bytes_.erase(0, at_);
        at_ = 0;
    }
    bytes_.append(bytes);
}

void MemoryBuffer::drop(size_t count) {
    at_ += count;
    if (at_ < bytes_.size()) return;
    bytes_.clear();
    at_ = 0;
    if (bytes_.capacity() > kMostKept) std::string().swap(bytes_);
}

BIO* make_memory_bio(MemoryBuffer& buffer) {
    const BIO_METHOD* methods = method();
    BIO* bio = methods == nullptr ? nullptr : BIO_new(methods);
    if (bio == nullptr) return nullptr;
    BIO_set_data(bio, &buffer);
    BIO_set_init(bio, 1);
    return bio;
}

}  // namespace network::tls
