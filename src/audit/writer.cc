// SPDX-License-Identifier: MIT
#include "audit/writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/encoding/sha256.h"

namespace audit {
namespace {

constexpr size_t kLongestPath = 4096;

}  // namespace

// By arithmetic only: the C library would open time zone files.
std::string time_text() {
    using namespace std::chrono;
    auto now = floor<milliseconds>(system_clock::now());
    auto day = floor<days>(now);
    year_month_day date(day);
    hh_mm_ss time(now - day);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
    return text;
}

Line::Line(std::string_view kind) : text_("{\"v\":" + std::to_string(kVersion)) {
    text("time", time_text());
    text("kind", kind);
}

void Line::key(std::string_view key) {
    if (!is_first_) text_ += ',';
    is_first_ = false;
    quoted(key, kLongestText);
    text_ += ':';
}

void Line::quoted(std::string_view value, size_t longest) {
    bool is_cut = value.size() > longest;
    text_ += '"';
    for (char letter : value.substr(0, longest)) {
        auto byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            text_ += '\\';
            text_ += letter;
        } else if (byte < 0x20 || byte >= 0x7f) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", byte);
            text_ += escape;
        } else {
            text_ += letter;
        }
    }
    if (is_cut) text_ += "...";
    text_ += '"';
}

Line& Line::text(std::string_view key, std::string_view value) {
    if (value.empty()) return *this;
    this->key(key);
    quoted(value, kLongestText);
    return *this;
}

Line& Line::path(std::string_view key, std::string_view value) {
    if (value.empty()) return *this;
    this->key(key);
    quoted(value, kLongestPath);
    return *this;
}

Line& Line::number(std::string_view key, uint64_t value) {
    this->key(key);
    text_ += std::to_string(value);
    return *this;
}

Line& Line::truth(std::string_view key, bool value) {
    this->key(key);
    text_ += value ? "true" : "false";
    return *this;
}

Line& Line::texts(std::string_view key, std::span<const std::string> values) {
    this->key(key);
    text_ += '[';
    for (size_t i = 0; i < std::min(values.size(), kMostTexts); ++i) {
        if (i > 0) text_ += ',';
        quoted(values[i], kLongestText);
    }
    if (values.size() > kMostTexts) text_ += ",\"...\"";
    text_ += ']';
    return *this;
}

Line& Line::begin_object(std::string_view key) {
    this->key(key);
    text_ += '{';
    is_first_ = true;
    return *this;
}

Line& Line::end_object() {
    text_ += '}';
    is_first_ = false;
    return *this;
}

std::string Line::finish() && {
    text_ += "}\n";
    return std::move(text_);
}

Writer::Writer(base::Fd file, std::string_view name, std::string_view seed, uint64_t part_size)
    : file_(std::move(file)), name_(name), part_size_(part_size) {
    if (!name_.empty()) hash_ = base::sha256(seed);
}

Writer::Writer(base::Fd file, std::string_view name, const Head& head)
    : file_(std::move(file)), hash_(head.hash), lines_(head.lines) {
    if (!hash_.empty()) name_ = name;
}

void Writer::write(Line line) {
    if (!file_) return;
    if (unsaid_ > 0) {
        Line about("journal");
        about.number("count", unsaid_).text("reason", kLinesLost);
        if (append(std::move(about))) unsaid_ = 0;
    }
    // If the line about lost lines can't be written, don't write this one either, even if it is shorter: it
    // would come before that line.
    if (unsaid_ == 0 && append(std::move(line))) return;
    ++lost_;
    ++unsaid_;
}

bool Writer::append(Line line) {
    if (!name_.empty()) line.text("writer", name_).number("line", lines_ + 1).text("previous", hash_);
    std::string text = (is_torn_ ? "\n" : "") + std::move(line).finish();
    size_t begin = is_torn_ ? 1 : 0;
    ssize_t count = 0;
    while ((count = ::write(file_.get(), text.data(), text.size())) < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    // A line that misses only its line break counts as written; the next line then begins with the line
    // break.
    is_torn_ = static_cast<size_t>(count) != text.size() && static_cast<size_t>(count) != begin;
    written_ += static_cast<size_t>(count);
    if (part_size_ != 0 && written_ >= part_size_) is_full_ = true;
    if (static_cast<size_t>(count) + 1 < text.size()) return false;
    ++lines_;
    if (!name_.empty()) {
        hash_ = base::sha256(std::string_view(text).substr(begin, text.size() - 1 - begin));
    }
    return true;
}

void Writer::go_on(base::Fd next_part) {
    if (file_ && std::exchange(is_torn_, false)) {
        [[maybe_unused]] ssize_t count = ::write(file_.get(), "\n", 1);
    }
    file_ = std::move(next_part);
    written_ = 0;
    is_full_ = false;
}

}  // namespace audit
