// SPDX-License-Identifier: MIT
#include "audit/writer.h"

#include <unistd.h>

#include <cerrno>

#include "base/sha256.h"

namespace audit {

Writer::Writer(base::Fd file, std::string_view name, std::string_view seed, uint64_t part_size)
    : file_(std::move(file)), name_(name), part_size_(part_size) {
    if (!name_.empty()) hash_ = base::sha256(seed);
}

void Writer::write(Line line) {
    if (!file_) return;
    if (!name_.empty()) line.text("writer", name_).number("line", lines_ + 1).text("previous", hash_);
    std::string text = std::move(line).finish();
    ssize_t count = 0;
    while ((count = ::write(file_.get(), text.data(), text.size())) < 0 && errno == EINTR) continue;
    // A part of a line is one that its reader passes over; the chain goes on from the last whole one.
    if (count != static_cast<ssize_t>(text.size())) return;
    ++lines_;
    if (!name_.empty()) hash_ = base::sha256(std::string_view(text).substr(0, text.size() - 1));
    written_ += text.size();
    if (part_size_ != 0 && written_ >= part_size_) is_full_ = true;
}

void Writer::go_on(base::Fd next_part) {
    file_ = std::move(next_part);
    written_ = 0;
    is_full_ = false;
}

}  // namespace audit
