// SPDX-License-Identifier: MIT
// The first packet to git's own server (git://, git-daemon(1)): "0033git-upload-pack
// /a.git\0host=NAME:PORT\0". The server may select a repository by the host.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "network/wire/http/authority.h"

namespace network::wire {

struct GitRequest {
    std::optional<Authority> host;
    size_t size = 0;  // of the packet
};

enum class GitRequestState { need_more, complete, refused };

// `received` is everything so far. Refused: another service, several hosts, an invalid host, or a line end,
// because some server could read the line as an HTTP request.
GitRequestState read_git_request(std::string_view received, GitRequest& request);

}  // namespace network::wire
