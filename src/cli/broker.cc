// SPDX-License-Identifier: MIT
#include "cli/broker.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <span>
#include <utility>

#include "base/text.h"
#include "network/exchange/spec.h"
#include "secrets/login.h"
#include "secrets/source.h"
#include "secrets/store.h"
#include "session/helpers/certificates.h"

namespace cli {
namespace {

void fill_random(std::span<uint8_t> bytes) {
    // It is never short below 256 bytes, and blocks only before the kernel has any randomness.
    while (!bytes.empty()) {
        ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
        if (got <= 0) std::abort();
        bytes = bytes.subspan(static_cast<size_t>(got));
    }
}

secrets::Surroundings surroundings_of(const Caller& caller, const Settings& settings,
                                      std::vector<base::Path> writable) {
    return {.environment = caller.environment,
            .home = settings.workspace.identity.home,
            .store = secrets::store_directory(settings.workspace.files.state_directory),
            .writable = std::move(writable)};
}

bool has_claims(const credentials::Credential& credential) {
    return credential.shape && credential.shape->is_jwt();
}

base::Result<std::vector<std::string>> certificate_names(const plan::Brokered& brokered) {
    network::exchange::BrokerSpec spec;
    spec.requests = brokered.requests;
    for (size_t i = 0; i < brokered.credentials.size(); ++i)
        spec.bindings.push_back(brokered.credentials[i].binding(brokered.placeholders[i]));
    base::Result<network::requests::RequestRules> rules =
        network::requests::RequestRules::make(spec.requests);
    if (!rules) return rules.error();
    return spec.certificate_names(*rules);
}

}  // namespace

std::vector<base::Path> writable_of(const plan::Plan& plan) {
    std::vector<base::Path> writable;
    for (const plan::PathRule& rule : plan.rules) {
        bool is_of_host = rule.backing == plan::Backing::host;
        if (rule.access == plan::Access::writable && is_of_host) writable.push_back(rule.path);
    }
    for (const plan::Grant& grant : plan.grants) {
        if (grant.kind == plan::GrantKind::write) writable.push_back(grant.path);
    }
    return writable;
}

secrets::Surroundings surroundings_outside(const Caller& caller, const Planned& planned) {
    std::vector<base::Path> writable = writable_of(planned.plan);
    // Another session may write it, also where this one may not.
    if (planned.plan.project != planned.settings.workspace.identity.home)
        writable.push_back(planned.plan.project);
    return surroundings_of(caller, planned.settings, std::move(writable));
}

base::Result<Brokerage> make_brokerage(const Settings& settings, bool is_launch) {
    Brokerage made;
    plan::Brokered& brokered = made.brokered;
    brokered.credentials = settings.credentials.credentials;
    brokered.requests = credentials::request_settings(settings.policy);
    brokered.intercepts = settings.policy.credentials.intercept;
    brokered.intercept_origin = settings.policy.credentials.intercept_origin;
    brokered.made_at = std::time(nullptr);
    for (const credentials::Credential& credential : brokered.credentials) {
        bool is_random = is_launch && credential.shape && !has_claims(credential);
        brokered.placeholders.push_back(
            is_random ? credential.shape->make(fill_random)
                      : base::format("placeholder-of-{}-in-a-plan-that-is-not-run", credential.name));
    }
    made.needs_values = is_launch && std::ranges::any_of(brokered.credentials, has_claims);
    if (!is_launch || !brokered.intercepts) return made;
    base::Result<std::vector<std::string>> names = certificate_names(brokered);
    if (!names) return names.error();
    base::Result<std::unique_ptr<session::CertificateMaker>> started =
        session::CertificateMaker::start(*names, brokered.made_at);
    if (!started) return started.error();
    made.certificates = std::make_shared<session::Certificates>();
    brokered.root = [maker = std::shared_ptr<session::CertificateMaker>(*std::move(started)),
                     certificates = made.certificates]() -> base::Result<plan::RootCertificate> {
        base::Result<session::Certificates> taken = maker->take();
        if (!taken) return taken.error();
        *certificates = *std::move(taken);
        certificates->maker = maker;
        return plan::RootCertificate{certificates->root, certificates->root_link};
    };
    return made;
}

base::Status add_claims(const Caller& caller, const Settings& settings, const plan::Plan& draft,
                        plan::Brokered& brokered) {
    const secrets::Surroundings surroundings = surroundings_of(caller, settings, writable_of(draft));
    for (size_t i = 0; i < brokered.credentials.size(); ++i) {
        if (!has_claims(brokered.credentials[i])) continue;
        base::Result<secrets::Fetched> fetched = secrets::fetch(brokered.credentials[i], surroundings);
        if (!fetched && brokered.credentials[i].is_login()) {
            // The user has not logged in yet. The first log-in from inside gives the claims.
            brokered.placeholders[i] = credentials::make_first_jwt_placeholder(fill_random);
            continue;
        }
        if (!fetched) return fetched.error();
        base::Result<std::string> made = credentials::make_jwt_placeholder(fetched->value, fill_random);
        if (!made) return made.error();
        brokered.placeholders[i] = *std::move(made);
    }
    return base::success();
}

namespace {

// The files may have changed since the start: the source counts as it is written now. Hosts, fields and the
// placeholder stay those of the start.
base::Result<credentials::Credential> with_present_source(const Caller& at_launch, const Arguments& arguments,
                                                          const credentials::Credential& at_start) {
    Caller caller = at_launch;
    caller.disk = host::DiskTree();
    base::Result<Settings> settings = load_settings(caller, arguments);
    if (!settings) return settings.error();
    const std::vector<credentials::Credential>& all = settings->credentials.credentials;
    auto found = std::ranges::find(all, at_start.name, &credentials::Credential::name);
    if (found == all.end()) return base::Error{.what = "the settings do not use it any more"};
    credentials::Credential credential = at_start;
    credential.source = found->source;
    credential.lifetime = found->lifetime;
    return credential;
}

base::Result<session::Value> value_of(const credentials::Credential& credential,
                                      const secrets::Surroundings& surroundings) {
    base::Result<secrets::Fetched> fetched = secrets::fetch(credential, surroundings);
    if (!fetched) return fetched.error();
    int64_t lifetime = credential.lifetime;
    if (fetched->expires_at > 0) lifetime = std::max<int64_t>(1, fetched->expires_at - std::time(nullptr));
    return session::Value{std::move(fetched->value), lifetime};
}

using ValueOf = std::function<base::Result<session::Value>(const credentials::Credential&)>;

// Where the log-ins of this session are.
secrets::Surroundings login_surroundings(const Caller& caller, const Planned& planned) {
    return surroundings_of(caller, planned.settings, writable_of(planned.plan));
}

base::Status store_tokens(const Caller& caller, const Planned& planned,
                          const network::gateway::TokensIssued& issued, int file) {
    const secrets::Surroundings surroundings = login_surroundings(caller, planned);
    base::Result<std::vector<secrets::StoredToken>> tokens =
        secrets::read_tokens(file, planned.settings.credentials.credentials);
    if (!tokens) return tokens.error();
    if (tokens->empty()) return base::success();
    const credentials::Credential& login = *tokens->front().credential;
    if (issued.is_login) {
        if (base::Status locked = secrets::lock_login(login, surroundings); !locked) return locked;
    }
    constexpr int64_t kThousand = 1000;
    using secrets::LoginAct;
    base::Status stored = secrets::store_login(*tokens, issued.is_login ? LoginAct::first : LoginAct::renew,
                                               {.expires_in = static_cast<int64_t>(issued.expires_in),
                                                .scope = issued.scope,
                                                .now = std::time(nullptr) * kThousand},
                                               surroundings);
    secrets::unlock_login(login, surroundings);
    return stored;
}

session::Values::Logins logins_of(const Caller& caller, const Planned& planned) {
    const std::vector<credentials::Credential>& all = planned.settings.credentials.credentials;
    if (std::ranges::none_of(all, &credentials::Credential::is_login)) return {};
    auto is_login = [&all](size_t number) { return number < all.size() && all[number].is_login(); };
    return {.lock = [&, is_login](size_t number) -> base::Status {
                if (!is_login(number)) return base::success();
                return secrets::lock_login(all[number], login_surroundings(caller, planned));
            },
            .unlock =
                [&, is_login](size_t number) {
                    if (is_login(number))
                        secrets::unlock_login(all[number], login_surroundings(caller, planned));
                },
            .store = [&](const network::gateway::TokensIssued& issued,
                         int file) { return store_tokens(caller, planned, issued, file); }};
}

session::BrokerOptions options_with(const Planned& planned, ValueOf get) {
    session::BrokerOptions options{.certificates = planned.certificates,
                                   .fetch = {},
                                   .records_paths = planned.settings.policy.audit.paths};
    if (planned.plan.broker.spec.bindings.empty()) return options;
    options.fetch = [&planned, get = std::move(get)](size_t number) -> base::Result<session::Value> {
        const std::vector<credentials::Credential>& all = planned.settings.credentials.credentials;
        if (number >= all.size()) return base::Error{.what = "the credential does not exist"};
        return get(all[number]);
    };
    return options;
}

}  // namespace

session::BrokerOptions broker_options(const Caller& caller, const Arguments& arguments,
                                      const Planned& planned) {
    session::BrokerOptions options =
        options_with(planned, [&](const credentials::Credential& at_start) -> base::Result<session::Value> {
            base::Result<credentials::Credential> credential =
                with_present_source(caller, arguments, at_start);
            if (!credential) return credential.error();
            return value_of(*credential, login_surroundings(caller, planned));
        });
    options.logins = logins_of(caller, planned);
    return options;
}

session::BrokerOptions trial_options(const secrets::Surroundings& surroundings, const Planned& planned) {
    return options_with(planned, [&surroundings](const credentials::Credential& credential) {
        return value_of(credential, surroundings);
    });
}

}  // namespace cli
