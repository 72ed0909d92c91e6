// SPDX-License-Identifier: MIT
// A request is three bytes: the stage reads the first ones without a buffer that could hold more.
#include "inner/messages.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/encoding/codec.h"

template <>
inline constexpr inner::Report::Kind base::kLast<inner::Report::Kind> = inner::Report::Kind::nested;
template <>
inline constexpr auto base::kFields<inner::Report> = std::tuple(&inner::Report::kind, &inner::Report::number,
                                                                &inner::Report::by_signal,
                                                                &inner::Report::step, &inner::Report::object,
                                                                &inner::Report::slot);
template <>
inline constexpr auto base::kFields<inner::AddedRequest> = std::tuple(&inner::AddedRequest::command,
                                                                      &inner::AddedRequest::environment,
                                                                      &inner::AddedRequest::directory,
                                                                      &inner::AddedRequest::has_terminal,
                                                                      &inner::AddedRequest::ignored_signals);

namespace inner {

std::string encode(const Report& report) {
    base::FieldWriter writer;
    base::write(writer, report);
    return writer.take();
}

bool take_report(std::string& buffer, Report& report) {
    return base::take(buffer, report);
}

namespace {

constexpr std::string_view kAdded = "added";
// The second byte of a frame that is about an added command. The third byte is its slot.
constexpr char kSignalsAdded = 'a';
constexpr char kSignalsAddedGroup = 'g';
constexpr char kStartsAdded = 's';

size_t bytes_of(const std::vector<std::string>& words) {
    size_t bytes = 0;
    for (const std::string& word : words) bytes += word.size() + 1;
    return bytes;
}

}  // namespace

std::string encode(const AddedRequest& request) {
    return base::encode_message(kAdded, request);
}

std::optional<AddedRequest> decode_added(std::string_view text) {
    AddedRequest request;
    bool is_well = text.size() <= kLargestAddedRequest &&
                   base::decode_message(kAdded, text, request) == base::Decoded::well;
    bool fits = bytes_of(request.command) + bytes_of(request.environment) <= kLargestAddedWords;
    if (!is_well || request.command.empty() || !fits) return std::nullopt;
    return request;
}

std::string encode(const SignalRequest& request) {
    if (request.slot >= 0) {
        const char kind = request.starts     ? kStartsAdded
                          : request.to_group ? kSignalsAddedGroup
                                             : kSignalsAdded;
        return {static_cast<char>(request.signal), kind, static_cast<char>(request.slot)};
    }
    return {static_cast<char>(request.signal), request.to_group ? '1' : '0',
            request.takes_terminal ? '1' : '0'};
}

bool take_signal_request(std::string& buffer, SignalRequest& request) {
    if (buffer.size() < kSignalRequestSize) return false;
    bool is_added =
        buffer[1] == kSignalsAdded || buffer[1] == kSignalsAddedGroup || buffer[1] == kStartsAdded;
    request =
        is_added ? SignalRequest{.signal = buffer[0],
                                 .to_group = buffer[1] == kSignalsAddedGroup,
                                 .slot = static_cast<unsigned char>(buffer[2]),
                                 .starts = buffer[1] == kStartsAdded}
                 : SignalRequest{
                       .signal = buffer[0], .to_group = buffer[1] == '1', .takes_terminal = buffer[2] == '1'};
    buffer.erase(0, kSignalRequestSize);
    return true;
}

void send_report(const LaunchSpec& spec, const Report& report) {
    std::string frame = encode(report);
    // MSG_NOSIGNAL: if the supervisor has exited, the next read shows it.
    (void)!::send(spec.control, frame.data(), frame.size(), MSG_NOSIGNAL);
}

int send_report_with(const LaunchSpec& spec, const Report& report, std::span<const int> descriptors) {
    std::string frame = encode(report);
    struct iovec content = {frame.data(), frame.size()};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(kMostReported * sizeof(int))] = {};
    struct msghdr message = {};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = extra;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    ssize_t sent = ::sendmsg(spec.control, &message, MSG_NOSIGNAL);
    if (sent < 0) return errno;
    return sent == static_cast<ssize_t>(frame.size()) ? 0 : EPIPE;
}

int report_failure(const LaunchSpec& spec, std::string_view step, std::string_view object, int number) {
    send_report(spec, Report{.kind = Report::Kind::failed,
                             .number = number,
                             .step = std::string(step),
                             .object = std::string(object)});
    return static_cast<int>(base::ExitCode::jail_failed);
}

}  // namespace inner
