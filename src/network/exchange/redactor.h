// SPDX-License-Identifier: MIT
// Replaces the values of credentials in answers by asterisks of the same length: the value itself, and its
// percent-encoded, base64 (Basic) and JSON forms. Works across any cut of the bytes.
//
// A stream must not wait. Bytes are held back only while they are the beginning of a form, so at most the
// length of the longest form less one. In a tunnel even that would stop a client that waits for the last byte
// of a message, because no end of a message is known there: so a few bytes pass, and count as seen.
//
// The search looks at every n-th byte, where n is about the length of the shortest form (Wu and Manber's
// method): two bytes at the end of a window tell how far the window may move.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret_value.h"

namespace network::exchange {

// What to search for. Shared by all answers of a credential.
class RedactionForms {
  public:
    // `users`: names that Basic sends before the value, so that the whole of its text is found.
    void add(const base::SecretValue& value, const std::vector<std::string>& users = {});
    void clear();
    bool is_empty() const { return forms_.empty(); }
    size_t longest() const { return longest_; }

  private:
    friend class Redactor;

    void add_form(std::string_view bytes);
    // The next window end at or after `end` where a form may end its first shortest_ bytes.
    size_t next_candidate(std::string_view text, size_t end) const;

    std::vector<base::SecretValue> forms_;
    size_t shortest_ = 0;
    size_t longest_ = 0;
    std::array<uint8_t, 4096> shifts_{};
    std::array<bool, 256> starts_{};  // bytes that a form begins with
};

bool is_same_value(const base::SecretValue& left, const base::SecretValue& right);

class Redactor {
  public:
    // `forms` may be null: then bytes pass unchanged.
    explicit Redactor(const RedactionForms* forms = nullptr) : forms_(forms) {}

    // From now on searches for these. Bytes that are held back stay so until the next take().
    void search_for(const RedactionForms* forms) { forms_ = forms; }
    // From now on the first kMostPassed bytes of a form are not held back.
    void pass_beginnings() { passes_beginnings_ = true; }
    // Appends what may be forwarded now.
    void take(std::string_view bytes, std::string& out);
    // The end of the text: appends the bytes that were held back.
    void finish(std::string& out);
    // A complete text of this size can't hold a form.
    bool is_too_short(size_t size) const {
        return forms_ == nullptr || forms_->is_empty() || size < forms_->shortest_;
    }
    // A text that is complete.
    std::string redacted(std::string_view text) const;

    size_t held() const { return held_.size() - passed_; }
    bool has_found() const { return has_found_; }

  private:
    static constexpr size_t kMostPassed = 4;

    void mark(std::string_view text, std::string& marks);
    size_t held_suffix(std::string_view text) const;

    const RedactionForms* forms_;
    std::string held_;
    std::string held_marks_;  // for each byte of held_: 1 if a form covers it; or empty
    size_t passed_ = 0;       // bytes at the start of held_ that were forwarded
    bool passes_beginnings_ = false;
    bool has_found_ = false;
};

}  // namespace network::exchange
