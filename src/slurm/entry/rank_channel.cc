// SPDX-License-Identifier: MIT
// Theory of operation. Both versions of the protocol begin with one line that names the version. The
// manager's answer decides which version is used, because all ranks of a step must use the first one's. In
// version 1 a request is a line, "cmd=NAME …", and the next one follows after the answer. Only spawn uses
// requests of several lines ("mcmd="). In version 2 six characters give the length of the request after them.
// Only requests whose names are in the table are forwarded. They are rewritten where the manager's parser is
// ambiguous.
#include "slurm/entry/rank_channel.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <span>

#include "base/file.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"

namespace slurm {
namespace {

constexpr std::string_view kLines[] = {
    "abort",    "barrier_in",     "finalize",          "get", "get_appnum", "get_maxes",
    "getbyidx", "get_my_kvsname", "get_universe_size", "put"};
constexpr std::string_view kFrames[] = {
    "abort",     "finalize",  "fullinit", "info-getjobattr", "info-getnodeattr", "info-putnodeattr",
    "job-getid", "kvs-fence", "kvs-get",  "kvs-put"};
constexpr size_t kLongestGreeting = 60;  // the manager reads it with one call
constexpr size_t kLongestLine = 8192;
constexpr size_t kLengthDigits = 6;
constexpr size_t kLongestFrame = 256 << 10;
constexpr std::string_view kCommand = "cmd=";

bool is_among(std::span<const std::string_view> names, std::string_view request, char end) {
    if (!request.starts_with(kCommand)) return false;
    request.remove_prefix(kCommand.size());
    return std::ranges::find(names, request.substr(0, request.find(end))) != names.end();
}

bool is_plain(std::string_view text) {
    return text.find('\0') == text.npos;
}

}  // namespace

bool RankRequests::take(std::string_view bytes) {
    incoming_ += bytes;
    return advance();
}

bool RankRequests::answered(std::string_view bytes) {
    if (manner_ != Manner::greeted && manner_ != Manner::lines) return true;
    answer_ += bytes;
    size_t end = answer_.find('\n');
    if (end == answer_.npos) return answer_.size() <= kLongestLine;
    std::string line = answer_.substr(0, end + 1);
    answer_.clear();
    awaits_answer_ = false;
    if (manner_ == Manner::lines) return advance();
    if (line.starts_with("cmd=response_to_init rc=0 pmi_version=1 ")) {
        manner_ = Manner::lines;
    } else if (line.starts_with("cmd=response_to_init rc=0 pmi_version=2 ")) {
        manner_ = Manner::frames;
    } else {
        return false;
    }
    return advance();
}

std::string RankRequests::next() {
    std::string now;
    now.swap(outgoing_);
    return now;
}

bool RankRequests::advance() {
    switch (manner_) {
        case Manner::greeting:
            return read_greeting();
        case Manner::greeted:
            return incoming_.size() <= kLongestLine;
        case Manner::lines:
            return read_line();
        case Manner::frames:
            return read_frames();
    }
    return false;
}

bool RankRequests::read_greeting() {
    size_t end = incoming_.find('\n');
    if (end == incoming_.npos) return incoming_.size() <= kLongestGreeting;
    int version = 0, subversion = 0;
    std::string line = incoming_.substr(0, end);
    if (line.size() > kLongestGreeting || !is_plain(line) ||
        std::sscanf(line.c_str(), "cmd=init pmi_version=%1d pmi_subversion=%1d", &version, &subversion) != 2)
        return false;
    incoming_.erase(0, end + 1);
    outgoing_ += "cmd=init pmi_version=" + std::to_string(version) +
                 " pmi_subversion=" + std::to_string(subversion) + "\n";
    manner_ = Manner::greeted;
    return true;
}

bool RankRequests::read_line() {
    if (awaits_answer_) return incoming_.size() <= kLongestLine;
    size_t end = incoming_.find('\n');
    if (end == incoming_.npos) return incoming_.size() <= kLongestLine;
    std::string_view line(incoming_.data(), end + 1);
    if (line.size() > kLongestLine || !is_plain(line)) return false;
    std::string_view bare = line.substr(0, end);
    if (!is_among(kLines, bare, ' ')) return false;
    outgoing_ += line;
    incoming_.erase(0, end + 1);
    awaits_answer_ = true;
    return true;
}

bool RankRequests::read_frames() {
    while (incoming_.size() >= kLengthDigits) {
        std::string_view digits(incoming_.data(), kLengthDigits);
        digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
        // Some clients pad at the end.
        digits = digits.substr(0, digits.find_last_not_of(' ') + 1);
        const std::optional<size_t> length = base::parse_number<size_t>(digits);
        if (!length || *length > kLongestFrame) return false;
        if (incoming_.size() < kLengthDigits + *length) return true;
        std::string request = incoming_.substr(kLengthDigits, *length);
        if (!is_plain(request) || !is_among(kFrames, request, ';')) return false;
        char text[kLengthDigits + 1];
        std::snprintf(text, sizeof text, "%6zu", *length);
        outgoing_ += text + request;
        incoming_.erase(0, kLengthDigits + *length);
    }
    return true;
}

namespace {

bool pass_on(RankRequests& requests, int manager) {
    std::string text = requests.next();
    return text.empty() || static_cast<bool>(base::write_all(manager, text));
}

void relay(int rank, int manager) {
    RankRequests requests;
    char bytes[64 << 10];
    auto receive = [&](int from) {
        ssize_t count = ::read(from, bytes, sizeof bytes);
        return std::string_view(bytes, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    };
    base::EventLoop loop;
    loop.add({[&] { return manager; },
              [&] {
                  std::string_view text = receive(manager);
                  if (text.empty() || !base::write_all(rank, text) || !requests.answered(text) ||
                      !pass_on(requests, manager))
                      loop.stop();
              }});
    loop.add({[&] { return rank; },
              [&] {
                  std::string_view text = receive(rank);
                  if (text.empty() || !requests.take(text) || !pass_on(requests, manager)) loop.stop();
              }});
    loop.run();
}

}  // namespace

base::Status guard_rank_channel(int descriptor) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a channel for the ranks", errno);
    base::Fd ours(ends[0]), theirs(ends[1]);
    // Fork twice, so that the guard is not a child of this process: the process that waits for the jail
    // expects no other children.
    pid_t between = ::fork();
    if (between < 0) return base::system_error("start the guard of the ranks' channel", errno);
    if (between == 0) {
        if (::fork() != 0) ::_exit(0);
        ::prctl(PR_SET_NAME, "asb-ranks");
        ::prctl(PR_SET_DUMPABLE, 0);
        ::signal(SIGPIPE, SIG_IGN);
        base::close_others({ours.get(), descriptor});
        relay(ours.get(), descriptor);
        ::_exit(0);
    }
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) continue;
    if (::dup2(theirs.get(), descriptor) != descriptor)
        return base::system_error("put the ranks' channel in place", errno);
    return base::success();
}

}  // namespace slurm
