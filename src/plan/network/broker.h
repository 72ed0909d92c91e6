// SPDX-License-Identifier: MIT
// Credentials and request rules of a session, as the plan gets them: with placeholders and with the
// certificate of the session's root, which are random and so are made outside of the plan.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "credentials/credential.h"
#include "network/requests/rules.h"

namespace plan {

struct RootCertificate {
    std::string pem;
    std::string link;  // the name that OpenSSL looks for in a directory: "1a2b3c4d.0"
};

struct Brokered {
    std::vector<credentials::Credential> credentials;
    std::vector<std::string> placeholders;  // in the same order
    network::requests::RequestSettings requests;
    bool intercepts = true;
    config::Origin intercept_origin;
    // Gives the session's root, and may wait for it. Not set in a plan that is only printed.
    std::function<base::Result<RootCertificate>()> root;
    int64_t made_at = 0;  // seconds since 1970
};

// Files of the host that hold all of its roots, the most usual first. Paths in /etc.
std::vector<std::string_view> bundle_files();

}  // namespace plan
