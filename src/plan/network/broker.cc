// SPDX-License-Identifier: MIT
// What a session with credentials or request rules gets inside: placeholders in variables, and trust in the
// session's root certificate by every file and variable that programs read roots from. Without credentials
// and rules nothing here runs.
#include "plan/network/broker.h"

#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "network/exchange/spec.h"
#include "network/tls/trust_store.h"
#include "plan/draft.h"

namespace plan {
namespace {

constexpr std::string_view kTrust = "trust";
constexpr std::string_view kBundle = "ca-certificates.crt";
constexpr std::string_view kJavaStore = "cacerts";
constexpr size_t kLargestBundle = 16u << 20;

// Layouts of distributions. Each file that the host has leads to the jail's bundle.
constexpr std::string_view kBundles[] = {
    "ssl/certs/ca-certificates.crt",  // Debian, Arch, Alpine
    "pki/tls/certs/ca-bundle.crt",    // RHEL
    "pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "pki/ca-trust/extracted/openssl/ca-bundle.trust.crt",
    "ssl/ca-bundle.pem",  // SUSE
    "ssl/cert.pem",       // Alpine
};
constexpr std::string_view kJavaStores[] = {"ssl/certs/java/cacerts", "pki/ca-trust/extracted/java/cacerts"};
constexpr std::string_view kLinkDirectory = "ssl/certs";

// Variables with which programs that bring their own roots are led to a bundle. Most replace the program's
// roots, so the file is always the whole bundle.
constexpr std::string_view kBundleVariables[] = {"SSL_CERT_FILE",
                                                 "NODE_EXTRA_CA_CERTS",
                                                 "REQUESTS_CA_BUNDLE",
                                                 "CURL_CA_BUNDLE",
                                                 "GIT_SSL_CAINFO",
                                                 "PIP_CERT",
                                                 "AWS_CA_BUNDLE",
                                                 "CARGO_HTTP_CAINFO",
                                                 "DENO_CERT",
                                                 "NIX_SSL_CERT_FILE",
                                                 "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"};

UsedCredential used(const credentials::Credential& credential) {
    UsedCredential made{.name = credential.name,
                        .title = credential.title,
                        .hosts = {},
                        .paths = {},
                        .methods = credential.methods,
                        .variables = credential.variables,
                        .origin = credential.use_origin};
    for (const network::requests::HostPattern& host : credential.hosts) made.hosts.push_back(host.text());
    for (const network::exchange::BoundPath& path : credential.paths) made.paths.push_back(path.text);
    return made;
}

const base::Path& etc() {
    static const base::Path path = base::Path::known("/etc");
    return path;
}

class Brokerage {
  public:
    Brokerage(Draft& draft, const Brokered& brokered) : draft_(draft), brokered_(brokered) {}

    base::Status add() {
        // Nothing can be reached, so that the rules hold.
        bool is_isolated = draft_.plan.network.reached == policy::NetworkMode::isolated;
        if (is_isolated && brokered_.credentials.empty()) return base::success();
        if (base::Status checked = check(); !checked) return checked;
        network::exchange::BrokerSpec& spec = draft_.plan.broker.spec;
        spec.requests = brokered_.requests;
        // Without files of the jail's own no program would trust the session's root.
        spec.intercepts = brokered_.intercepts && draft_.backend().has_view && draft_.backend().lays_files;
        if (base::Status held = check_rules(spec); !held) return held;
        for (size_t i = 0; i < brokered_.credentials.size(); ++i) {
            spec.bindings.push_back(brokered_.credentials[i].binding(brokered_.placeholders[i]));
            draft_.plan.broker.credentials.push_back(used(brokered_.credentials[i]));
        }
        std::string own = roots();
        draft_.plan.broker.roots = own;
        if (spec.intercepts) {
            RootCertificate root;
            if (brokered_.root) {
                base::Result<RootCertificate> made = brokered_.root();
                if (!made) return made.error();
                root = *std::move(made);
            }
            trust(network::tls::with_root(network::tls::with_root(own, inside_only_), root.pem), root);
        }
        for (size_t i = 0; i < brokered_.credentials.size(); ++i) add_variables(i);
        add_git_rewrites();
        return base::success();
    }

  private:
    // Without a gateway no value can be put in and no request can be judged.
    base::Status check() const {
        policy::NetworkMode mode = draft_.plan.network.reached;
        if (mode == policy::NetworkMode::filtered || mode == policy::NetworkMode::proxied)
            return base::success();
        bool has_credentials = !brokered_.credentials.empty();
        return base::Error{
            .what =
                base::format("{} can't be used with network.mode = \"{}\": {}",
                             has_credentials ? "a credential" : "a request rule", policy::to_text(mode),
                             has_credentials ? "no gateway puts the value in" : "no gateway reads requests"),
            .advice = "use --network filtered or --network proxied"};
    }

    // Threat: a session without interception would start although no rule is held
    // (tests/plan/broker_test.cc).
    base::Status check_rules(const network::exchange::BrokerSpec& spec) const {
        const network::requests::RequestSettings& rules = spec.requests;
        bool has_rules =
            !rules.allow.empty() || !rules.ask.empty() || !rules.block.empty() || !rules.git.empty();
        if (spec.intercepts || !has_rules) return base::success();
        return base::Error{
            .what =
                brokered_.intercepts
                    ? base::format("rules about requests can't be held by {}: it can't decrypt connections",
                                   draft_.backend().title)
                    : "rules about requests can't be held: credentials.intercept is off",
            .advice = brokered_.intercepts ? "use --backend native or bwrap, or take the rules out"
                                           : "set credentials.intercept = \"on\", or take the rules out"};
    }

    // Threat: the jail could add a root of its own to this file, and a host on the way could then take the
    // place of the bound one (tests/plan/broker_test.cc).
    bool can_be_changed_inside(const base::Path& path) const {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(path);
        if (!resolved) return true;
        auto is_open = [&](const base::Path& one) { return is_host_writable(draft_.rules.decide(one)); };
        return is_open(path) || is_open(resolved->path) ||
               std::ranges::any_of(resolved->links, is_open, &host::Tree::Link::path);
    }

    std::string text_of(const base::Path& path) const {
        base::Result<std::string> text = draft_.tree().read(path, kLargestBundle);
        return text ? *std::move(text) : std::string();
    }

    // The roots that this host trusts, and those of files that the caller named in variables. The gateway
    // does not trust a file that the jail can change; programs in the jail do, as outside.
    std::string roots() {
        std::string bundle;
        for (std::string_view name : kBundles) {
            if (bundle.empty()) bundle = text_of(etc() / name);
        }
        std::vector<std::string> merged;
        for (const std::string& assignment : draft_.inputs.request.policy_environment()) {
            size_t equals = assignment.find('=');
            std::string_view name = std::string_view(assignment).substr(0, equals);
            bool is_one = equals != std::string::npos &&
                          std::ranges::find(kBundleVariables, name) != std::end(kBundleVariables);
            base::Result<base::Path> path =
                base::Path::parse(is_one ? std::string_view(assignment).substr(equals + 1) : "");
            bool is_new = path && std::ranges::find(merged, path->str()) == merged.end();
            if (!is_one || !is_new) continue;
            merged.push_back(path->str());
            std::string& target = can_be_changed_inside(*path) ? inside_only_ : bundle;
            target = network::tls::with_root(target, text_of(*path));
        }
        return bundle;
    }

    void trust(std::string bundle, const RootCertificate& root) {
        const Reason reason{"the roots of this host, and the one of this session", {}};
        const base::Path place = draft_.own / kTrust;
        for (std::string_view name : kBundles) lead(name, place / kBundle, reason);
        if (!root.link.empty()) {
            std::string link = base::format("{}/{}", kLinkDirectory, root.link);
            if (draft_.tree().glance(etc() / kLinkDirectory))
                draft_.etc_files.push_back({link, (place / "root.pem").str(), reason, true});
        }
        bool has_java = false;
        for (std::string_view name : kJavaStores) has_java |= lead(name, place / kJavaStore, reason);
        const bool has_own_java = has_java_with_own_store();
        has_java |= has_own_java;
        push({.kind = MountKind::directory, .target = place, .reason = reason});
        if (has_java) {
            push({.kind = MountKind::file,
                  .target = place / kJavaStore,
                  .source = network::tls::java_trust_store(network::tls::certificates_in_pem(bundle),
                                                           brokered_.made_at),
                  .reason = reason});
        }
        push({.kind = MountKind::file, .target = place / "root.pem", .source = root.pem, .reason = reason});
        push({.kind = MountKind::file,
              .target = place / kBundle,
              .source = std::move(bundle),
              .reason = reason});
        for (std::string_view name : kBundleVariables) add_variable(name, (place / kBundle).str(), reason);
        add_variable("UV_NATIVE_TLS", "1", {"uv reads the system's roots", {}});
        if (!has_own_java) return;
        // Not for every Java, because each start prints a line about it.
        add_variable("JAVA_TOOL_OPTIONS",
                     base::format("-Djavax.net.ssl.trustStore={} -Djavax.net.ssl.trustStorePassword=changeit",
                                  (place / kJavaStore).str()),
                     {"a JDK that the jail shows brings roots of its own", {}});
    }

    // A JDK outside of the system's packages does not read the store in /etc.
    bool has_java_with_own_store() const {
        std::vector<base::Path> homes;
        for (const std::string& assignment : draft_.inputs.request.policy_environment()) {
            std::string_view text = assignment;
            if (text.starts_with("JAVA_HOME=")) add_java_home(text.substr(text.find('=') + 1), homes);
            if (!text.starts_with("PATH=")) continue;
            for (std::string_view directory : base::split(text.substr(text.find('=') + 1), ':')) {
                base::Result<base::Path> path = base::Path::parse(directory);
                base::Result<host::Tree::Resolved> java =
                    path ? draft_.tree().resolve(*path / "java") : path.error();
                if (java && java->exists) add_java_home(java->path.parent().parent().str(), homes);
            }
        }
        return std::ranges::any_of(homes, [&](const base::Path& home) {
            for (std::string_view name : {"lib/security/cacerts", "jre/lib/security/cacerts"}) {
                base::Result<host::Tree::Resolved> store = draft_.tree().resolve(home / name);
                if (store && store->exists && !is_led(store->path)) return true;
            }
            return false;
        });
    }

    void add_java_home(std::string_view text, std::vector<base::Path>& homes) const {
        base::Result<base::Path> path = base::Path::parse(text);
        base::Result<host::Tree::Resolved> home = path ? draft_.tree().resolve(*path) : path.error();
        const PathRule* rule = home && home->exists ? draft_.rules.decide(home->path) : nullptr;
        bool is_shown =
            rule != nullptr && (rule->access == Access::readonly || rule->access == Access::writable);
        if (is_shown) homes.push_back(home->path);
    }

    // Whether the jail has its own store at this path.
    static bool is_led(const base::Path& store) {
        return std::ranges::any_of(kJavaStores, [&](std::string_view name) { return store == etc() / name; });
    }

    // True: the host has this file.
    bool lead(std::string_view name, const base::Path& to, const Reason& reason) {
        if (!draft_.tree().glance(etc() / name)) return false;
        draft_.etc_files.push_back({std::string(name), to.str(), reason, true});
        return true;
    }

    void add_variables(size_t number) {
        const credentials::Credential& credential = brokered_.credentials[number];
        const Reason reason{base::format("the placeholder of the credential '{}'", credential.name),
                            credential.origin};
        const std::string& placeholder = brokered_.placeholders[number];
        bool is_first = true;
        for (const std::string& name : credential.variables) {
            std::string_view part = placeholder;
            if (credential.signs())
                part = is_first ? network::exchange::key_id_of(placeholder)
                                : network::exchange::secret_key_of(placeholder);
            is_first = false;
            add_variable(name, std::string(part), reason);
        }
        for (const auto& [name, text] : credential.fixed_variables)
            add_variable(
                name, text,
                {base::format("clients of the credential '{}' need it", credential.name), credential.origin});
        bool uses_endpoint = !draft_.plan.broker.spec.intercepts && !credential.base_url_variable.empty();
        if (!uses_endpoint) return;
        add_variable(credential.base_url_variable,
                     base::format("http://{}{}{}", base::lower(credential.name),
                                  network::exchange::kEndpointSuffix, credential.base_url_path),
                     {"the session's own name for the credential's host", credential.origin});
    }

    // ssh remotes of a host become HTTPS, where the credential and the rules apply. Without interception git
    // uses the session's own name for the host.
    void add_git_rewrites() {
        std::vector<std::pair<std::string, std::string>> rows;  // key, value
        for (const credentials::Credential& credential : brokered_.credentials) {
            if (!credential.git_rewrite || credential.hosts.empty()) continue;
            const std::string& host = credential.hosts.front().name;
            const bool is_read = draft_.plan.broker.spec.intercepts;
            std::string key = base::format("url.https://{}/.insteadOf", host);
            if (!is_read) {
                key = base::format("url.http://{}{}/.insteadOf", base::lower(credential.name),
                                   network::exchange::kEndpointSuffix);
                rows.emplace_back(key, base::format("https://{}/", host));
            }
            rows.emplace_back(key, base::format("git@{}:", host));
            rows.emplace_back(key, base::format("ssh://git@{}/", host));
        }
        if (rows.empty()) return;
        const Reason reason{"git uses HTTPS, where the credential is put in", {}};
        for (auto& [key, value] : rows)
            draft_.git_settings.push_back({std::move(key), std::move(value), reason});
    }

    void add_variable(std::string_view name, std::string value, const Reason& reason) {
        draft_.added.push_back(Variable{std::string(name), std::move(value), reason});
    }

    void push(Mount mount) { draft_.assembled.push_back(std::move(mount)); }

    Draft& draft_;
    const Brokered& brokered_;
    std::string inside_only_;  // roots that programs in the jail trust, and the gateway does not
};

}  // namespace

std::vector<std::string_view> bundle_files() {
    return {std::begin(kBundles), std::end(kBundles)};
}

base::Status add_broker(Draft& draft) {
    if (draft.inputs.brokered == nullptr) return base::success();
    return Brokerage(draft, *draft.inputs.brokered).add();
}

}  // namespace plan
