// SPDX-License-Identifier: MIT
// The value of a credential, and text that contains one. The type has no conversion to text: no formatter, no
// stream operator, no view. Its bytes are reached only through reveal(), and tests/structure/secrets lists
// the files that may call it. So a value can't reach a message, a record or a file by mistake.
//
// Threat: a value in a log, a crash text or in memory that another part reads later. The bytes are
// overwritten when the object is destroyed, assigned or grows. Tests: tests/base/secret_value_test.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace base {

// Overwrites the bytes; the compiler can't leave it out.
void wipe(std::string& text);

// From now on values of this process are in one block of memory that is not swapped, not dumped and empty in
// a child process, with an unmapped page on each side. A value that has no room there is kept in ordinary
// memory. Call it before the process confines itself.
void keep_secrets_in_locked_memory();

// Takes the same time for all texts of this length. Texts of other lengths differ at once.
bool equals_in_constant_time(std::string_view left, std::string_view right);

class SecretValue {
  public:
    // A shorter value can't be found in answers without changing other text.
    static constexpr size_t kMinimum = 8;
    static constexpr size_t kMaximum = 16384;

    SecretValue() = default;
    SecretValue(SecretValue&& other) noexcept;
    SecretValue& operator=(SecretValue&& other) noexcept;
    SecretValue(const SecretValue&) = delete;
    SecretValue& operator=(const SecretValue&) = delete;
    ~SecretValue() { clear(); }

    // Takes a value from its source and overwrites `bytes`. Removes one line end. Refuses a value that is too
    // short or too long, or that holds a control character: it would end a header field.
    static Result<SecretValue> make(std::string&& bytes);

    size_t size() const { return size_; }
    bool is_empty() const { return size_ == 0; }
    bool equals(std::string_view text) const;
    SecretValue copy() const;
    void clear();

    // For text around a value.
    SecretValue& append(std::string_view text);
    SecretValue& append(const SecretValue& other);

    // The only way to the bytes: `use` gets a view that ends with the call.
    template <typename Use>
    decltype(auto) reveal(Use&& use) const {
        return std::forward<Use>(use)(std::string_view(bytes_.get(), size_));
    }

  private:
    struct Free {
        void operator()(char* bytes) const;
    };
    using Bytes = std::unique_ptr<char[], Free>;
    void reserve(size_t capacity);

    Bytes bytes_;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

}  // namespace base
