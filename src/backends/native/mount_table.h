// SPDX-License-Identifier: MIT
// Reads /proc/self/mountinfo without a heap, for a process after clone.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace backends::native {

// A line of the table, read piece by piece; a field longer than its buffer is an error.
struct MountLine {
    char place[4096];
    char options[512];
};

class MountTable {
  public:
    explicit MountTable(int file) : file_(file) {}

    // 1: a line, 0: the end, or minus errno.
    int next(MountLine& line) {
        int field = 0;
        size_t place = 0, options = 0;
        for (bool is_empty = true;; is_empty = false) {
            int byte = read_byte();
            if (byte == kEnd) return is_empty ? 0 : -EPROTO;
            if (byte < 0) return byte;
            if (byte == '\n') break;
            if (byte == ' ') {
                ++field;
            } else if (field == kPlaceField) {
                if (place + 1 >= sizeof line.place) return -ENAMETOOLONG;
                line.place[place++] = static_cast<char>(byte);
            } else if (field == kOptionsField) {
                if (options + 1 >= sizeof line.options) return -ENAMETOOLONG;
                line.options[options++] = static_cast<char>(byte);
            }
        }
        // Without a place it would be a line of the root.
        if (field < kOptionsField || place == 0) return -EPROTO;
        line.place[unescape(line.place, place)] = '\0';
        line.options[options] = '\0';
        return 1;
    }

  private:
    static constexpr int kPlaceField = 4;
    static constexpr int kOptionsField = 5;
    static constexpr int kEnd = 256;

    int read_byte() {
        while (at_ == count_) {
            ssize_t got = ::read(file_, bytes_, sizeof bytes_);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return -errno;
            if (got == 0) return kEnd;
            at_ = 0;
            count_ = static_cast<size_t>(got);
        }
        return static_cast<unsigned char>(bytes_[at_++]);
    }

    static bool is_octal(const char* digits) {
        for (int i = 0; i < 3; ++i) {
            if (digits[i] < '0' || digits[i] > '7') return false;
        }
        return true;
    }

    // Blanks and some other characters are written as \040.
    static size_t unescape(char* text, size_t length) {
        size_t to = 0;
        for (size_t from = 0; from < length; ++to) {
            if (text[from] == '\\' && from + 3 < length && is_octal(text + from + 1)) {
                text[to] = static_cast<char>((text[from + 1] - '0') << 6 | (text[from + 2] - '0') << 3 |
                                             (text[from + 3] - '0'));
                from += 4;
            } else {
                text[to] = text[from++];
            }
        }
        return to;
    }

    int file_;
    char bytes_[4096] = {};
    size_t at_ = 0;
    size_t count_ = 0;
};

}  // namespace backends::native
