// SPDX-License-Identifier: MIT
#include "slurm/chaperon/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/line.h"
#include "base/encoding/json.h"
#include "base/file.h"
#include "base/text.h"
#include "slurm/chaperon/record.h"

namespace slurm::chaperon {
namespace {

constexpr size_t kLongestText = 512;
constexpr off_t kLargestLog = 16 << 20;
constexpr size_t kShown = 1u << 20;

std::string cut(std::string_view untrusted) {
    bool is_cut = untrusted.size() > kLongestText;
    return base::printable(untrusted.substr(0, kLongestText)) + (is_cut ? "..." : "");
}

base::Fd open_to_append(const std::string& path) {
    return base::Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
}

}  // namespace

void Log::write(std::string_view command, std::string_view event,
                const std::map<std::string, std::string>& facts) const {
    if (desk_ >= 0) hand_on(desk_, command, event, facts);
    if (path_.empty()) return;
    base::Json line = base::Json::object();
    line.set("time", audit::time_text()).set("command", cut(command)).set("event", cut(event));
    for (const auto& [key, value] : facts) line.set(cut(key), cut(value));
    base::Fd file = open_to_append(path_);
    if (!file && errno == ENOENT && base::make_directories(path_.substr(0, path_.rfind('/'))).ok())
        file = open_to_append(path_);
    struct stat facts_of_file;
    if (!file || ::fstat(file.get(), &facts_of_file) != 0 || !S_ISREG(facts_of_file.st_mode) ||
        facts_of_file.st_size > kLargestLog)
        return;
    // One call per line, because workers write at the same time.
    std::string text = line.dump(-1) + "\n";
    (void)!::write(file.get(), text.data(), text.size());
}

std::string Log::text() const {
    base::Fd file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts;
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return "";
    std::string text(std::min(kShown, static_cast<size_t>(facts.st_size)), '\0');
    const bool is_whole = text.size() == static_cast<size_t>(facts.st_size);
    ssize_t count =
        ::pread(file.get(), text.data(), text.size(), facts.st_size - static_cast<off_t>(text.size()));
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    if (!is_whole) text.erase(0, text.find('\n') + 1);
    return text;
}

}  // namespace slurm::chaperon
