// SPDX-License-Identifier: MIT
#include "network/wire/git_request.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"

namespace network::wire {
namespace {

constexpr std::string_view kServices[] = {"git-upload-pack", "git-receive-pack", "git-upload-archive"};
constexpr std::string_view kHostParameter = "host=";
constexpr size_t kLengthDigits = 4;
constexpr size_t kLongestRequest = 4096;

// Parses the packet after its length.
bool read_parts(std::string_view text, GitRequest& request) {
    std::vector<std::string_view> parts = base::split(text, '\0');
    size_t blank = parts[0].find(' ');
    bool is_known = std::ranges::find(kServices, parts[0].substr(0, blank)) != std::end(kServices);
    if (!is_known || blank == std::string_view::npos) return false;
    for (std::string_view part : parts) {
        if (!part.starts_with(kHostParameter)) continue;
        if (request.host) return false;
        request.host = parse_authority(part.substr(kHostParameter.size()));
        if (!request.host) return false;
    }
    return true;
}

}  // namespace

GitRequestState read_git_request(std::string_view received, GitRequest& request) {
    if (received.size() < kLengthDigits) return GitRequestState::need_more;
    request.size = base::parse_number<size_t>(received.substr(0, kLengthDigits), 16).value_or(0);
    bool is_bounded = request.size > kLengthDigits && request.size <= kLongestRequest;
    if (!is_bounded) return GitRequestState::refused;
    std::string_view packet = received.substr(0, request.size);
    if (packet.find_first_of("\r\n") != std::string_view::npos) return GitRequestState::refused;
    if (packet.size() < request.size) return GitRequestState::need_more;
    return read_parts(packet.substr(kLengthDigits), request) ? GitRequestState::complete
                                                             : GitRequestState::refused;
}

}  // namespace network::wire
