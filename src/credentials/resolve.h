// SPDX-License-Identifier: MIT
// The credentials and request rules of a session: credentials.use and [requests] of the merged settings, the
// tables [credential.NAME] of all files, and the shipped presets. A session without either reads no preset.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "credentials/credential.h"
#include "network/requests/rules.h"
#include "policy/merge.h"
#include "policy/policy.h"

namespace credentials {

constexpr size_t kMaximumCredentials = 32;

struct Resolved {
    std::vector<Credential> credentials;  // in the order of credentials.use
    network::requests::RequestRules rules;
    bool has_rules = false;  // an entry of allow, ask, block or git exists

    bool is_empty() const { return credentials.empty() && !has_rules; }
    // The credential whose placeholder this variable holds, or null.
    const Credential* owner_of(std::string_view variable) const;
};

base::Result<Resolved> resolve(const policy::Layers& layers, const policy::Policy& policy);

// One credential, whether it is used or not. `use` names the entry that asks for it.
base::Result<Credential> resolve_one(const policy::Layers& layers, const std::string& name,
                                     const config::Origin& use);

// Names with a table [credential.NAME] in one of the files, sorted.
std::vector<std::string> defined_names(const policy::Layers& layers);

// What all tables [credential.NAME] name. Without such a table it is empty.
std::vector<DefinedSource> defined_sources(const policy::Layers& layers);

// The entries of requests.* as the rules take them.
network::requests::RequestSettings request_settings(const policy::Policy& policy);

// Without a gateway no secret can be put in and no rule can be enforced: refused with 125.
base::Status check_network(const Resolved& resolved, const policy::Policy& policy);

}  // namespace credentials
