// SPDX-License-Identifier: MIT
#include "plan/system/users.h"

#include <optional>
#include <vector>

#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"

namespace plan {
namespace {

constexpr uint32_t kNobody = 65534;

bool is_system(uint32_t number) {
    return number < kFirstUser || number == kNobody;
}

}  // namespace

std::string filter_passwd(std::string_view host_text, const host::Identity& caller) {
    std::string kept;
    bool has_caller = false;
    for (std::string_view line : base::split(host_text, '\n')) {
        std::vector<std::string_view> fields = base::split(line, ':');
        if (fields.size() != 7) continue;
        std::optional<uint32_t> uid = base::parse_number<uint32_t>(fields[2]);
        if (!uid) continue;
        bool is_caller = *uid == caller.uid;
        if (!is_caller && !is_system(*uid)) continue;
        has_caller = has_caller || is_caller;
        kept += line;
        kept += '\n';
    }
    if (!has_caller) {
        const std::string shell = caller.shell.empty() ? "/bin/sh" : caller.shell;
        kept += base::format("{}:x:{}:{}::{}:{}\n", caller.user, caller.uid, caller.gid, caller.home.str(),
                             shell);
    }
    return kept;
}

std::string filter_group(std::string_view host_text, const host::Identity& caller) {
    std::string kept;
    bool has_primary = false;
    for (std::string_view line : base::split(host_text, '\n')) {
        std::vector<std::string_view> fields = base::split(line, ':');
        if (fields.size() != 4) continue;
        std::optional<uint32_t> gid = base::parse_number<uint32_t>(fields[2]);
        if (!gid) continue;
        bool is_member = false;
        for (std::string_view member : base::split(fields[3], ','))
            is_member = is_member || member == caller.user;
        bool is_primary = *gid == caller.gid;
        if (!is_primary && !is_member && !is_system(*gid)) continue;
        has_primary = has_primary || is_primary;
        kept += base::format("{}:x:{}:{}\n", fields[0], fields[2], is_member ? caller.user : "");
    }
    if (!has_primary) {
        const std::string name = caller.group.empty() ? caller.user : caller.group;
        kept += base::format("{}:x:{}:\n", name, caller.gid);
    }
    return kept;
}

std::string_view files_only_switch() {
    return "passwd: files\ngroup: files\nshadow: files\ngshadow: files\nhosts: files dns\nnetworks: files\n"
           "protocols: files\nservices: files\nethers: files\nrpc: files\nnetgroup: files\n";
}

}  // namespace plan
