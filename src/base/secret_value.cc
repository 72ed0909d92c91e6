// SPDX-License-Identifier: MIT
#include "base/secret_value.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace base {
namespace {

// Blocks of one size; `used_` has the number of blocks of each piece at its first block.
class LockedMemory {
  public:
    static constexpr size_t kSize = 64 << 10;
    static constexpr size_t kBlock = 64;

    void make() {
        if (memory_ != nullptr) return;
        const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
        void* all = ::mmap(nullptr, kSize + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) return;
        char* memory = static_cast<char*>(all) + page;
        if (::mprotect(memory, kSize, PROT_READ | PROT_WRITE) != 0) return;
        // A low limit of locked memory leaves the rest of the protection.
        (void)::mlock(memory, kSize);
        (void)::madvise(memory, kSize, MADV_DONTDUMP);
        (void)::madvise(memory, kSize, MADV_WIPEONFORK);
        memory_ = memory;
    }

    // Null if there is no room.
    char* take(size_t size) {
        const size_t wanted = (size + kBlock - 1) / kBlock;
        if (memory_ == nullptr || wanted == 0) return nullptr;
        size_t free_before = 0;
        for (size_t at = 0; at < used_.size();) {
            if (used_[at] != 0) {
                at += used_[at];
                free_before = 0;
                continue;
            }
            ++at;
            if (++free_before < wanted) continue;
            used_[at - wanted] = static_cast<uint16_t>(wanted);
            return memory_ + (at - wanted) * kBlock;
        }
        return nullptr;
    }

    // False: the bytes are not from here.
    bool give_back(const char* bytes) {
        if (memory_ == nullptr || bytes < memory_ || bytes >= memory_ + kSize) return false;
        used_[static_cast<size_t>(bytes - memory_) / kBlock] = 0;
        return true;
    }

  private:
    char* memory_ = nullptr;
    std::array<uint16_t, kSize / kBlock> used_{};
};

LockedMemory locked;

}  // namespace

void keep_secrets_in_locked_memory() {
    locked.make();
}

void SecretValue::Free::operator()(char* bytes) const {
    if (!locked.give_back(bytes)) delete[] bytes;
}

void wipe(std::string& text) {
    // The unused capacity may hold bytes of a longer text.
    text.resize(text.capacity());
    explicit_bzero(text.data(), text.size());
    text.clear();
}

bool equals_in_constant_time(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    unsigned difference = 0;
    for (size_t i = 0; i < left.size(); ++i)
        difference |= static_cast<unsigned char>(left[i]) ^ static_cast<unsigned char>(right[i]);
    return difference == 0;
}

SecretValue::SecretValue(SecretValue&& other) noexcept
    : bytes_(std::move(other.bytes_)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

SecretValue& SecretValue::operator=(SecretValue&& other) noexcept {
    if (this == &other) return *this;
    clear();
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
}

void SecretValue::clear() {
    if (bytes_) explicit_bzero(bytes_.get(), capacity_);
    bytes_.reset();
    size_ = capacity_ = 0;
}

void SecretValue::reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max(capacity, 2 * capacity_);
    char* room = locked.take(capacity);
    Bytes larger(room != nullptr ? room : new char[capacity]);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    if (bytes_) explicit_bzero(bytes_.get(), capacity_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
}

SecretValue& SecretValue::append(std::string_view text) {
    if (text.empty()) return *this;
    reserve(size_ + text.size());
    std::memcpy(bytes_.get() + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
}

SecretValue& SecretValue::append(const SecretValue& other) {
    if (&other != this) return append(std::string_view(other.bytes_.get(), other.size_));
    return append(other.copy());
}

SecretValue SecretValue::copy() const {
    SecretValue copied;
    copied.append(std::string_view(bytes_.get(), size_));
    return copied;
}

bool SecretValue::equals(std::string_view text) const {
    return equals_in_constant_time(std::string_view(bytes_.get(), size_), text);
}

Result<SecretValue> SecretValue::make(std::string&& bytes) {
    std::string_view text = bytes;
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    bool has_control = std::ranges::any_of(text, [](char letter) {
        auto byte = static_cast<unsigned char>(letter);
        return byte < ' ' || byte == 0x7f;
    });
    const char* fault = text.size() < kMinimum   ? "the value is shorter than 8 bytes"
                        : text.size() > kMaximum ? "the value is longer than 16 KiB"
                        : has_control            ? "the value holds a line end or another control character"
                                                 : nullptr;
    SecretValue value;
    if (fault == nullptr) value.append(text);
    wipe(bytes);
    if (fault != nullptr) return Error{.what = fault, .advice = "check what the source prints"};
    return value;
}

}  // namespace base
