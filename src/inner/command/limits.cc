// SPDX-License-Identifier: MIT
#include "inner/command/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace inner {

int apply_limits(const std::vector<ResourceLimit>& limits) {
    for (const ResourceLimit& wanted : limits) {
        auto resource = static_cast<__rlimit_resource_t>(wanted.resource);
        struct rlimit limit;
        if (::getrlimit(resource, &limit) != 0) return errno;
        limit.rlim_max = std::min<rlim_t>(limit.rlim_max, wanted.value);
        limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
        if (::setrlimit(resource, &limit) != 0) return errno;
    }
    return 0;
}

}  // namespace inner
