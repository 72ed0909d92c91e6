// SPDX-License-Identifier: MIT
// The request rules as one question: may this request be made? Pure: no socket, no clock.
//
//   host is named by              its requests are
//   an allow entry                refused, except what its entries permit
//   block or ask entries alone    permitted, except what these entries match
//   no entry                      not judged
//
// The most specific entry decides (rule.h); between equals a block, then an ask, then an allow. The entries
// of the administrator are judged a second time alone, and the stricter answer counts. So no other layer
// lifts an administrator's block, and an administrator's allow is a ceiling for its host. In the same way all
// entries are judged without those of `ask` that a project's file has, so that none of them turns a refusal
// into a question.
//
// If requests.git names the host, its entries decide about git's requests, and a block or ask entry for the
// path still counts. GraphQL entries decide about the root fields that they match, the other entries about
// the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "network/requests/git.h"
#include "network/requests/graphql.h"
#include "network/requests/rule.h"

namespace network::requests {

// A name of a header field or of a query parameter with which a client overrides the method.
bool is_method_override(std::string_view name);

struct Request {
    std::string_view host;  // in normal form
    uint16_t port = 443;
    std::string_view method;
    std::string_view target;  // path and query, as sent
    bool is_websocket = false;
    bool has_body = false;
    std::vector<std::string_view> overrides;  // values of the fields for which is_method_override is true
};

// Why the request may be executed with another method than its own, or empty. The query counts too: some
// servers accept the override there.
std::string_view override_fault(const Request& request, std::string_view query);

enum class Decision { permitted, ask, refused };
enum class Need { nothing, push_commands, graphql, lfs_batch };

struct Verdict {
    Decision decision = Decision::permitted;
    // If not refused, the verdict depends on the body too: call judge_push, judge_graphql or judge_lfs.
    Need need = Need::nothing;
    bool is_judged = false;             // an entry names the host
    bool is_observed = false;           // permitted because of requests.observe alone
    int status = 403;                   // of a refusal
    std::string_view code;              // "request_refused" or "path_not_canonical"
    GitService git = GitService::none;  // a refusal is sent in git's protocol
    const RequestRule* rule = nullptr;  // the entry that decides, or null; valid as long as the rules
    std::string reason;
    std::string change;  // the command or entry that would permit it, if one would

    bool is_permitted() const { return decision == Decision::permitted && need == Need::nothing; }
};

struct PushVerdict {
    Verdict verdict;
    std::vector<std::string> reasons;  // one for each command; empty: this ref may be changed
};

struct RequestSettings {
    std::vector<config::Item> allow, ask, block, git;
    std::vector<config::Item> opaque;  // hosts that are not judged, unless the administrator names them
    bool observe = false;
};

class RequestRules {
  public:
    RequestRules() = default;
    static base::Result<RequestRules> make(const RequestSettings& settings);

    // Whether the gateway must read the requests to this host.
    bool names(std::string_view host, uint16_t port) const;
    bool is_opaque(std::string_view host, uint16_t port) const;
    // Names for which certificates are needed.
    std::vector<HostPattern> hosts() const;

    Verdict judge(const Request& request) const;
    // For a request whose verdict needs its body.
    PushVerdict judge_push(const Request& request, const std::vector<PushCommand>& commands) const;
    Verdict judge_graphql(const Request& request, const std::vector<RootField>& fields) const;
    // The operation of a git-LFS batch.
    Verdict judge_lfs(const Request& request, bool is_upload) const;

  private:
    enum class Scope { all, without_project, administrator };
    struct Subject {
        const Request& request;
        CanonicalPath path;
        GitTarget git;
        Scope scope = Scope::all;
        std::optional<bool> uploads = std::nullopt;  // of git-LFS, once its body was read
    };

    template <typename Match>
    const RequestRule* find(const Subject& subject, Match matches) const;
    bool is_about(const RequestRule& rule, const Subject& subject) const;
    bool has(const Subject& subject, Kind kind) const;
    bool is_allow_list(const Subject& subject) const;
    Verdict judge_in(const Subject& subject) const;
    Verdict judge_path(const Subject& subject) const;
    Verdict judge_git(const Subject& subject) const;
    Verdict judge_field(const Subject& subject, const RootField& field) const;
    std::string push_reason(const Subject& subject, const PushCommand& command) const;
    template <typename Judge>
    Verdict in_every_scope(Subject& subject, Judge judge) const;
    Verdict finish(const Verdict& all, const Verdict& administrator) const;

    std::vector<RequestRule> rules_;
    std::vector<HostPattern> opaque_;
    std::vector<HostPattern> administrators_opaque_;
    bool observe_ = false;
};

}  // namespace network::requests
