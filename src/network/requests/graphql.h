// SPDX-License-Identifier: MIT
// The root fields of a GraphQL request: what it reads or changes, independent of the names that the client
// chooses for operations, aliases and fragments.
//
// Threat: a document that the reader and the server understand differently. Refused: an array of requests, a
// member of the JSON object that is there twice or is not of the protocol, a persisted query without text, a
// fragment at the root that the document does not define, every definition that is not an operation or a
// fragment, and tokens that servers end at different places. All operations of the document count, because
// the client names the one to run. Tests: tests/requests/graphql_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/requests/rule.h"

namespace network::requests {

constexpr size_t kMaximumGraphql = 262144;
constexpr int kMaximumGraphqlDepth = 32;
constexpr size_t kMaximumRootFields = 1024;

struct RootField {
    Operation operation = Operation::query;
    std::string name;  // without its alias

    bool operator==(const RootField&) const = default;
};

// `body` is the JSON object of a POST: {"query": "…", …}. Returns the fault, or an empty text; then `fields`
// has at least one field, each once.
std::string_view read_graphql(std::string_view body, std::vector<RootField>& fields);

// The same for the document alone.
std::string_view read_graphql_document(std::string_view document, std::vector<RootField>& fields);

}  // namespace network::requests
