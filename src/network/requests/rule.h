// SPDX-License-Identifier: MIT
// The entries of requests.allow, requests.ask, requests.block and requests.git.
//
//   GET,HEAD api.example.org/repos/me/*/issues    methods, host and path; * is every method
//   * api.example.org:8443/v1/**                  a host at a port
//   graphql query api.example.org/graphql         GraphQL by the kind of operation
//   graphql mutation addStar api.example.org/graphql   and by root field
//   @github-read                                  a list: share/requests/github-read.list
//   fetch example.org/**                          requests.git: clone and fetch
//   push example.org/me/app refs/heads/agent/*    requests.git: push of these refs
//   push example.org/me/app refs/tags/* create    only new ones; also update, delete
//
// A row of a list may start with the word "block": it gives the reason for a refusal in a list that permits.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "network/requests/path.h"

namespace network::requests {

enum class Side { allow, ask, block };  // the least strict first
enum class Kind { http, graphql, fetch, push };
enum class Operation { query, mutation, subscription };

std::string_view to_text(Side side);
std::string_view to_text(Operation operation);

// "api.example.org", "*.example.org" (its subdomains, not itself), each with an optional port.
struct HostPattern {
    std::string name;  // without the star
    bool is_wildcard = false;
    std::optional<uint16_t> port;

    // `host` is in normal form (rules/names/name.h).
    bool matches(std::string_view host, uint16_t to_port) const;
    std::string text() const;
};

// A wildcard over a public suffix is an error.
base::Result<HostPattern> parse_host_pattern(std::string_view text);

// Greater is more specific: the host first, then the path, then fewer methods.
struct Specificity {
    bool is_exact_host;
    size_t host_length;
    bool has_port;
    int literals;
    int stars;
    int negative_depths;
    int negative_methods;
    auto operator<=>(const Specificity&) const = default;
};

struct RequestRule {
    Side side = Side::block;
    Kind kind = Kind::http;
    std::vector<std::string> methods;  // empty: every method
    HostPattern host;
    PathPattern path;  // of fetch and push: the repository, without ".git"

    std::string refs;  // of push: a pattern
    bool may_create = true, may_update = true, may_delete = true;

    Operation operation = Operation::query;
    std::string field;  // of graphql: a name with * for any letters; empty for every field

    std::string text;       // as it was written
    std::string list;       // the list that contains it, or empty
    std::string reason;     // of a row of a list
    config::Origin origin;  // of the entry, or of the entry that named the list

    // Methods and path of an entry that refuses match in any spelling (path.h).
    bool matches(std::string_view method, const CanonicalPath& to) const;
    Specificity specificity() const;
    // "@github-read: GET api.github.com/**", or the entry itself.
    std::string described() const;
};

// One entry of allow, ask or block. The caller fills in list, reason and origin.
base::Result<RequestRule> parse_request_rule(std::string_view text, Side side);
// One entry of requests.git.
base::Result<RequestRule> parse_git_rule(std::string_view text);

// The rules of an entry: one, or all rows of the list that it names. Errors contain the entry's origin and,
// for an unknown list, the nearest known name.
base::Result<std::vector<RequestRule>> request_rules_of(const config::Item& item, Side side);
base::Result<RequestRule> git_rule_of(const config::Item& item);

}  // namespace network::requests
