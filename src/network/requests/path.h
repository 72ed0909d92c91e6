// SPDX-License-Identifier: MIT
// Paths of requests: the one form in which they are judged, and the patterns that match them.
//
// Threat: two spellings of one path. A server may decode a path before it routes it, so "/%67ists" is
// "/gists", "/a/%2e%2e/b" is "/b", and "/gists;x=1" is "/gists" for servers that strip parameters. A spelling
// that servers read in different ways is refused. Every other path is compared after one decoding. "%2F" is a
// part of a name for some servers and a separator for others: entries that refuse match both readings. The
// path itself is forwarded as it was sent. Tests: tests/requests/path_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace network::requests {

constexpr size_t kMaximumSegments = 256;

struct CanonicalPath {
    std::string_view path;   // as sent, without the query
    std::string_view query;  // without the question mark
    // Decoded once. "%2F" stays as "%2f" and "%25" as "%25": they are characters of their segment. A slash at
    // the end adds no segment.
    std::vector<std::string> segments;
    // For entries that refuse, in lower case: the segments, the segments without the parameters after a
    // semicolon, and both with "%2f" as a separator. Readings that add nothing are left out.
    std::vector<std::vector<std::string>> readings;
};

// Reads the target of a request in origin form. Returns the fault, or an empty text.
std::string_view read_target(std::string_view target, CanonicalPath& path);

// The readings without the ending of the last name: "/graphql.json" is "/graphql" for servers that take the
// ending as the format of the answer.
CanonicalPath without_ending(const CanonicalPath& path);

// "/repos/me/*/issues/**": `*` matches within one segment, `**` any number of segments, including none.
class PathPattern {
  public:
    // The pattern must start with a slash and be canonical itself. "%2A" is a star that is not a wildcard.
    static base::Result<PathPattern> parse(std::string_view text);

    // For entries that permit: the spelling decides. A segment with "%2f" is matched only by a segment that
    // spells it, or by `**` of a pattern that spells it elsewhere.
    bool matches(const std::vector<std::string>& segments) const;
    // For entries that refuse: letters in any case, with and without the parameters after a semicolon, "%2F"
    // and a slash as one.
    bool matches_any_spelling(const CanonicalPath& path) const;

    int literals() const { return literals_; }  // segments without a star
    int stars() const { return stars_; }        // segments with `*`
    int depths() const { return depths_; }      // `**`, and any name with a coded slash like `*%2f*`

  private:
    // Texts between stars; one text is a literal, and no text is `**`.
    using Segment = std::vector<std::string>;
    template <typename Match>
    static bool match(const std::vector<Segment>& pattern, const std::vector<std::string>& segments,
                      Match matches_segment);

    std::vector<Segment> segments_;
    std::vector<Segment> lower_;
    std::vector<Segment> divided_;  // lower_ with "%2f" as a separator; empty if the pattern has none
    int literals_ = 0;
    int stars_ = 0;
    int depths_ = 0;
};

// Whether a text consists of these parts with any text in between: {"a", "b"} is "a*b".
bool matches_parts(const std::vector<std::string>& parts, std::string_view text);

}  // namespace network::requests
