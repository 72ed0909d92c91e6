// SPDX-License-Identifier: MIT
#include "session/helpers/backends.h"

#include <algorithm>

#include "backends/bubblewrap/diagnose.h"
#include "backends/bubblewrap/launch.h"
#include "backends/firejail/diagnose.h"
#include "backends/firejail/launch.h"
#include "backends/landlock/launch.h"
#include "backends/native/launch.h"

namespace session {
namespace {

struct Backend {
    std::string_view name;  // plan/backend.h
    base::Result<backends::Launched> (*launch)(const plan::Plan&, const host::Facts&,
                                               const backends::Caller&);
    base::Error (*diagnose)(std::string_view);
    bool sets_up_network;                    // the jail's own child does
    void (*limit_watches)(const base::Fd&);  // not set: its child does, or no process can
};

constexpr Backend kBackends[] = {
    {"native", backends::native::launch, backends::native::diagnose, true, nullptr},
    {"bwrap", backends::bubblewrap::launch, backends::bubblewrap::diagnose, false,
     backends::bubblewrap::limit_watches_of},
    {"firejail", backends::firejail::launch, backends::firejail::diagnose, false, nullptr},
    {"landlock", backends::landlock::launch, backends::landlock::diagnose, false, nullptr},
};

const Backend& named(std::string_view name) {
    const auto* found = std::ranges::find(kBackends, name, &Backend::name);
    return found == std::end(kBackends) ? kBackends[0] : *found;
}

}  // namespace

base::Result<backends::Launched> launch(const plan::Plan& plan, const host::Facts& facts,
                                        const backends::Caller& caller) {
    return named(plan.backend).launch(plan, facts, caller);
}

base::Error diagnose(std::string_view backend, std::string_view standard_error) {
    return named(backend).diagnose(standard_error);
}

bool sets_up_network(std::string_view backend) {
    return named(backend).sets_up_network;
}

void limit_watches(std::string_view backend, const base::Fd& mounts) {
    if (auto* limit = named(backend).limit_watches; limit != nullptr) limit(mounts);
}

}  // namespace session
