// SPDX-License-Identifier: MIT
#include "network/exchange/redactor.h"

#include <algorithm>
#include <utility>

#include "base/encoding/base64.h"
#include "network/exchange/put.h"

namespace network::exchange {
namespace {

// A shorter text would be found by chance.
constexpr size_t kShortestForm = base::SecretValue::kMinimum;
constexpr size_t kLongestShift = 255;
constexpr char kMarked = 1;

size_t pair_hash(char first, char second) {
    auto high = static_cast<unsigned char>(first), low = static_cast<unsigned char>(second);
    return (static_cast<size_t>(high) << 5 ^ low) & 4095;
}

// The letters of base64 that depend on the value alone when `before` bytes are in front of it.
std::string core_of_base64(std::string_view value, size_t before) {
    std::string padded(before, 'x');
    padded.append(value);
    std::string coded = base::to_base64(padded);
    size_t start = (8 * before + 5) / 6;
    size_t end = 8 * padded.size() / 6;
    std::string core = coded.substr(start, end - start);
    base::wipe(padded);
    base::wipe(coded);
    return core;
}

std::string url_alphabet(std::string_view text) {
    std::string changed(text);
    std::ranges::replace(changed, '+', '-');
    std::ranges::replace(changed, '/', '_');
    return changed;
}

std::string json_escaped(std::string_view text, std::string_view kept) {
    std::string escaped;
    escaped.reserve(2 * text.size());
    for (char letter : text) {
        bool is_special = letter == '"' || letter == '\\' || letter == '/';
        if (is_special && kept.find(letter) == std::string_view::npos) escaped += '\\';
        escaped += letter;
    }
    return escaped;
}

// Every byte as a code: "%41", or "\\u0041" in JSON.
std::string coded_throughout(std::string_view text, std::string_view before, std::string_view digits) {
    std::string coded;
    coded.reserve((before.size() + 2) * text.size());
    for (char letter : text) {
        auto byte = static_cast<unsigned char>(letter);
        coded += before;
        coded += digits[byte >> 4];
        coded += digits[byte & 15];
    }
    return coded;
}

std::string with_lower_codes(std::string_view percent) {
    std::string changed(percent);
    for (size_t i = 0; i + 2 < changed.size(); ++i) {
        if (changed[i] != '%') continue;
        for (size_t digit : {i + 1, i + 2}) {
            if (changed[digit] >= 'A' && changed[digit] <= 'F')
                changed[digit] = static_cast<char>(changed[digit] - 'A' + 'a');
        }
        i += 2;
    }
    return changed;
}

// As forms write it (quote_plus, URLSearchParams).
std::string with_plus_for_blanks(std::string_view percent) {
    std::string changed;
    changed.reserve(percent.size());
    for (size_t i = 0; i < percent.size(); ++i) {
        bool is_blank = percent.substr(i).starts_with("%20");
        changed += is_blank ? '+' : percent[i];
        if (is_blank) i += 2;
    }
    return changed;
}

}  // namespace

bool is_same_value(const base::SecretValue& left, const base::SecretValue& right) {
    return left.reveal([&](std::string_view bytes) { return right.equals(bytes); });
}

void RedactionForms::clear() {
    forms_.clear();
    starts_.fill(false);
    shortest_ = longest_ = 0;
}

void RedactionForms::add_form(std::string_view bytes) {
    if (bytes.size() < kShortestForm) return;
    for (const base::SecretValue& form : forms_) {
        if (form.equals(bytes)) return;
    }
    forms_.emplace_back().append(bytes);
    starts_[static_cast<unsigned char>(bytes.front())] = true;
    longest_ = std::max(longest_, bytes.size());
    shortest_ = shortest_ == 0 ? bytes.size() : std::min(shortest_, bytes.size());
    shortest_ = std::min(shortest_, kLongestShift);
}

void RedactionForms::add(const base::SecretValue& value, const std::vector<std::string>& users) {
    value.reveal([&](std::string_view bytes) {
        auto add_text = [&](std::string text) {
            add_form(text);
            base::wipe(text);
        };
        add_form(bytes);
        // RFC 3986, Python's quote, encodeURIComponent of JavaScript, and encoders that code "~" too (Java).
        for (std::string_view kept : {"-._~", "-._~/", "-._~!'()*", "-._", "-._*"}) {
            std::string percent = percent_encoded(bytes, kept);
            add_text(with_lower_codes(percent));
            add_text(with_plus_for_blanks(percent));
            add_form(percent);
            base::wipe(percent);
        }
        for (std::string_view digits : {"0123456789ABCDEF", "0123456789abcdef"}) {
            add_text(coded_throughout(bytes, "%", digits));
            add_text(coded_throughout(bytes, "\\u00", digits));
        }
        add_text(json_escaped(bytes, ""));
        add_text(json_escaped(bytes, "/"));
        for (size_t before : {0, 1, 2}) {
            std::string core = core_of_base64(bytes, before);
            add_text(url_alphabet(core));
            add_form(core);
            base::wipe(core);
        }
        for (const std::string& user : users) {
            std::string pair;
            pair.reserve(user.size() + 1 + bytes.size());
            pair.append(user).append(":").append(bytes);
            add_text(base::to_base64(pair));
            base::wipe(pair);
        }
    });
    // For each pair of bytes: the distance from its last place in the first bytes of a form to their end.
    shifts_.fill(static_cast<uint8_t>(shortest_ > 0 ? shortest_ - 1 : 0));
    for (const base::SecretValue& form : forms_) {
        form.reveal([&](std::string_view bytes) {
            for (size_t i = 1; i < shortest_; ++i) {
                uint8_t& shift = shifts_[pair_hash(bytes[i - 1], bytes[i])];
                shift = std::min(shift, static_cast<uint8_t>(shortest_ - 1 - i));
            }
        });
    }
}

size_t RedactionForms::next_candidate(std::string_view text, size_t end) const {
    while (end < text.size()) {
        uint8_t shift = shifts_[pair_hash(text[end - 1], text[end])];
        if (shift == 0) return end;
        end += shift;
    }
    return text.size();
}

// Marks each byte of every form in the text, also of forms that overlap. `marks` stays empty without
// one.
void Redactor::mark(std::string_view text, std::string& marks) {
    size_t window = forms_->shortest_;
    if (text.size() < window) return;
    for (size_t end = forms_->next_candidate(text, window - 1); end < text.size();
         end = forms_->next_candidate(text, end + 1)) {
        size_t start = end + 1 - window;
        for (const base::SecretValue& form : forms_->forms_) {
            size_t size = form.size();
            if (text.size() - start < size) continue;
            bool is_here =
                form.reveal([&](std::string_view bytes) { return text.substr(start, size) == bytes; });
            if (!is_here) continue;
            marks.resize(text.size(), 0);
            std::fill_n(marks.begin() + static_cast<std::ptrdiff_t>(start), size, kMarked);
            has_found_ = true;
        }
    }
}

// The size of the longest end of the text that is the beginning of a form.
size_t Redactor::held_suffix(std::string_view text) const {
    size_t most = std::min(text.size(), forms_->longest_ - 1);
    for (size_t size = most; size > 0; --size) {
        std::string_view suffix = text.substr(text.size() - size);
        if (!forms_->starts_[static_cast<unsigned char>(suffix.front())]) continue;
        for (const base::SecretValue& form : forms_->forms_) {
            if (form.size() <= size) continue;
            if (form.reveal([&](std::string_view bytes) { return bytes.starts_with(suffix); })) return size;
        }
    }
    return 0;
}

void Redactor::take(std::string_view bytes, std::string& out) {
    if (forms_ == nullptr || forms_->is_empty()) {
        out += bytes;
        return;
    }
    std::string joined = std::move(held_), marks = std::move(held_marks_);
    held_.clear();
    held_marks_.clear();
    // Most bytes come without a beginning before them, and are searched where they are.
    bool is_joined = !joined.empty();
    if (is_joined) joined += bytes;
    std::string_view text = is_joined ? std::string_view(joined) : bytes;
    if (!marks.empty()) marks.resize(text.size(), 0);
    mark(text, marks);
    size_t kept = text.size() - held_suffix(text);
    size_t before = std::exchange(passed_, 0);
    size_t until = kept;
    if (passes_beginnings_) until = std::min(text.size(), std::max(before, kept + kMostPassed));
    if (until > before) {
        size_t start = out.size();
        out.append(text.substr(before, until - before));
        for (size_t i = marks.find(kMarked, before); i < until; i = marks.find(kMarked, i + 1))
            out[start + i - before] = '*';
    }
    held_ = text.substr(kept);
    passed_ = std::max(before, until) - std::min(std::max(before, until), kept);
    if (kept < marks.size()) held_marks_ = marks.substr(kept);
    if (is_joined) base::wipe(joined);
}

void Redactor::finish(std::string& out) {
    for (size_t i = std::exchange(passed_, 0); i < held_.size(); ++i) {
        bool is_marked = i < held_marks_.size() && held_marks_[i] == kMarked;
        out += is_marked ? '*' : held_[i];
    }
    base::wipe(held_);
    held_marks_.clear();
}

std::string Redactor::redacted(std::string_view text) const {
    Redactor whole(forms_);
    std::string out;
    whole.take(text, out);
    whole.finish(out);
    return out;
}

}  // namespace network::exchange
