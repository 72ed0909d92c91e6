// SPDX-License-Identifier: MIT
#include "session/helpers/backends.h"

#include <algorithm>

#include "backends/bubblewrap/launch.h"
#include "backends/firejail/launch.h"
#include "backends/landlock/launch.h"
#include "backends/native/launch.h"

namespace session {
namespace {

struct Row {
    base::Backend backend;
    base::Result<backends::Launched> (*launch)(const plan::Plan&, const host::Facts&,
                                               const backends::Caller&);
    base::Error (*diagnose)(std::string_view);
    bool sets_up_network;                    // the jail's own child does
    void (*limit_watches)(const base::Fd&);  // not set: its child does, or no process can
};

constexpr Row kRows[] = {
    {base::Backend::native, backends::native::launch, backends::native::diagnose, true, nullptr},
    {base::Backend::bwrap, backends::bubblewrap::launch, backends::bubblewrap::diagnose, false,
     backends::bubblewrap::limit_watches_of},
    {base::Backend::firejail, backends::firejail::launch, backends::firejail::diagnose, false, nullptr},
    {base::Backend::landlock, backends::landlock::launch, backends::landlock::diagnose, false, nullptr},
};

static_assert(std::ranges::equal(kRows, base::kBackends, {}, &Row::backend));

const Row& row_of(base::Backend backend) {
    return kRows[static_cast<size_t>(backend)];
}

}  // namespace

base::Result<backends::Launched> launch(const plan::Plan& plan, const host::Facts& facts,
                                        const backends::Caller& caller) {
    return row_of(plan.backend).launch(plan, facts, caller);
}

base::Error diagnose(base::Backend backend, std::string_view standard_error) {
    return row_of(backend).diagnose(standard_error);
}

bool sets_up_network(base::Backend backend) {
    return row_of(backend).sets_up_network;
}

void limit_watches(base::Backend backend, const base::Fd& mounts) {
    if (auto* limit = row_of(backend).limit_watches; limit != nullptr) limit(mounts);
}

}  // namespace session
