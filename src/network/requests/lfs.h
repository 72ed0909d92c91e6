// SPDX-License-Identifier: MIT
// git-LFS: large files beside the commits of a repository. A client asks the batch endpoint where to put or
// get them. Its body has the operation: an upload is judged as a push, a download as a fetch.
//
// Threat: a body that the reader and the server understand differently. Tests: tests/requests/lfs_test.cc.
#pragma once

#include <string_view>

namespace network::requests {

constexpr size_t kMaximumLfsBatch = 262144;

// `body` is the JSON object of a POST to …/info/lfs/objects/batch. Returns the fault, or an empty text.
std::string_view read_lfs_batch(std::string_view body, bool& is_upload);

}  // namespace network::requests
