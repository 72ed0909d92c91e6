// SPDX-License-Identifier: MIT
#include "differential/report.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace differential {
namespace {

constexpr size_t kSessionDigits = 32, kPlaceDigits = 16;

bool is_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

}  // namespace

std::string name_of_errno(int number) {
    if (number == 0) return "ok";
    const char* name = ::strerrorname_np(number);
    return name == nullptr ? "error " + std::to_string(number) : name;
}

std::string without_session(std::string_view text) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && is_digit(text[end])) ++end;
        bool is_place = end - at == kPlaceDigits && result.ends_with("agent-sandbox-");
        if (end - at == kSessionDigits || is_place) {
            result += "<session>";
        } else {
            end = std::max(end, at + 1);
            result += text.substr(at, end - at);
        }
        at = end;
    }
    return result;
}

std::string content_of(const std::string& path, int& number, size_t limit) {
    number = 0;
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd) {
        number = errno;
        return {};
    }
    std::string content(limit, '\0');
    size_t size = 0;
    while (size < limit) {
        ssize_t got = ::read(fd.get(), content.data() + size, limit - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) number = errno;
        if (got <= 0) break;
        size += static_cast<size_t>(got);
    }
    content.resize(size);
    return content;
}

void Report::say(std::string_view subject, std::string_view object, std::string_view fact) {
    lines_.push_back(std::string(subject) + " " + base::printable(without_session(object)) + ": " +
                     base::printable(without_session(fact)));
}

void Report::verdict(std::string_view subject, std::string_view object, int number) {
    say(subject, object, name_of_errno(number));
}

std::string Report::text() {
    std::ranges::sort(lines_);
    std::string text;
    for (const std::string& line : lines_) text += line + '\n';
    return text;
}

}  // namespace differential
