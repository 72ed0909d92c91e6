// SPDX-License-Identifier: MIT
// Lines: the title, the user and groups, the body, and a last line, because a truncated file would hide
// findings.
#include "host/kept_findings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/format.h"

namespace host {
namespace {

constexpr std::string_view kLastLine = "end\n";
constexpr size_t kLargestFindings = 4u << 20;

// The groups decide what can be seen and written. Computed once, because a launch needs it several times.
const std::string& asker() {
    static const std::string kAsker = [] {
        gid_t groups[1024];
        int count = ::getgroups(1024, groups);
        std::string text = base::format("{}:{}", ::geteuid(), ::getegid());
        for (int i = 0; i < count; ++i) text += "," + std::to_string(groups[i]);
        return text;
    }();
    return kAsker;
}

std::string head_of(std::string_view title) {
    return base::format("{}\n{}\n", title, asker());
}

}  // namespace

std::optional<Findings> kept_findings(const std::string& file, std::string_view title) {
    base::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid()) return std::nullopt;
    base::Result<std::string> content = base::read_descriptor(fd.get(), kLargestFindings);
    if (!content) return std::nullopt;
    const std::string head = head_of(title);
    bool is_whole = content->starts_with(head) && content->ends_with("\n" + std::string(kLastLine)) &&
                    content->size() >= head.size() + kLastLine.size();
    if (!is_whole) return std::nullopt;
    return Findings{content->substr(head.size(), content->size() - head.size() - kLastLine.size())};
}

void keep_findings(const std::string& file, std::string_view title, std::string_view body) {
    if (!base::make_directories(file.substr(0, file.rfind('/')))) return;
    base::Status written =
        base::write_file_atomically(file, head_of(title) + std::string(body) + std::string(kLastLine));
    static_cast<void>(written);
}

bool is_within(time_t longest, time_t then, time_t now) {
    return then <= now && now - then <= longest;
}

std::string stamp_text(const struct timespec& time) {
    return base::format("{}.{}", time.tv_sec, time.tv_nsec);
}

}  // namespace host
