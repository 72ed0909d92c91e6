// SPDX-License-Identifier: MIT
#include "network/requests/lfs.h"

#include <algorithm>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "network/requests/json_members.h"

namespace network::requests {

std::string_view read_lfs_batch(std::string_view body, bool& is_upload) {
    if (body.size() > kMaximumLfsBatch) return "the git-LFS request is longer than 256 KiB";
    base::Result<base::Json> parsed = base::Json::parse(body);
    if (!parsed || !parsed->is_object()) return "the git-LFS request is not a JSON object";
    // Some servers read names in any case.
    auto is_operation = [](const auto& member) {
        return base::equals_ignoring_case(member.first, "operation");
    };
    bool is_repeated = count_members(body) != parsed->members().size() ||
                       std::ranges::count_if(parsed->members(), is_operation) > 1;
    if (is_repeated) return "the git-LFS request has a member twice";
    std::string operation = parsed->text("operation");
    is_upload = operation == "upload";
    if (is_upload || operation == "download") return {};
    return "the operation of the git-LFS request is neither download nor upload";
}

}  // namespace network::requests
