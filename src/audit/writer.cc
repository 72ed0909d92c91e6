// SPDX-License-Identifier: MIT
#include "audit/writer.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/encoding/sha256.h"

namespace audit {

Writer::Writer(base::Fd file, std::string_view name, std::string_view seed, uint64_t part_size)
    : file_(std::move(file)), name_(name), part_size_(part_size) {
    if (!name_.empty()) hash_ = base::sha256(seed);
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
