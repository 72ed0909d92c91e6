// SPDX-License-Identifier: MIT
#include "network/requests/path.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "rules/names/name.h"

namespace network::requests {
namespace {

constexpr std::string_view kNotAPath = "the target is not a path";
constexpr std::string_view kEmptySegment = "the path holds an empty segment";
constexpr std::string_view kDots = "the path holds '.' or '..'";
constexpr std::string_view kControl = "the path holds a control character";
constexpr std::string_view kBackslash = "the path holds a backslash";
constexpr std::string_view kHighByte = "the path holds a byte above 126 that is not percent-encoded";
constexpr std::string_view kPercent = "the path holds '%' without two hexadecimal digits";
constexpr std::string_view kTwice = "the path is percent-encoded twice";
constexpr std::string_view kText = "the decoded path is not UTF-8";
constexpr std::string_view kMany = "the path has more than 256 segments";

constexpr std::string_view kCodedSlash = "%2f";  // in a decoded segment

std::optional<char> code_at(std::string_view text, size_t at) {
    std::string_view digits = text.substr(std::min(at + 1, text.size()), 2);
    bool is_code = digits.size() == 2 && std::ranges::all_of(digits, [](char digit) {
                       return base::is_lower_hex_digit(base::lower(digit));
                   });
    if (!is_code) return std::nullopt;
    return static_cast<char>(*base::parse_number<uint8_t>(digits, 16));
}

std::string_view fault_of_character(char letter) {
    auto byte = static_cast<unsigned char>(letter);
    if (byte < ' ' || byte == 0x7f) return kControl;
    return letter == '\\' ? kBackslash : std::string_view();
}

// Appends the decoded segment. Returns the fault, or an empty text.
std::string_view decode(std::string_view segment, std::string& decoded) {
    std::string once;  // what a second decoding would read
    for (size_t at = 0; at < segment.size(); ++at) {
        char letter = segment[at];
        if (letter != '%') {
            if (static_cast<unsigned char>(letter) > 126) return letter == 0x7f ? kControl : kHighByte;
            if (std::string_view fault = fault_of_character(letter); !fault.empty()) return fault;
            decoded += letter;
            once += letter;
            continue;
        }
        std::optional<char> code = code_at(segment, at);
        if (!code) return kPercent;
        if (std::string_view fault = fault_of_character(*code); !fault.empty()) return fault;
        at += 2;
        once += *code;
        if (*code == '/') {
            decoded += kCodedSlash;
        } else if (*code == '%') {
            decoded += "%25";
        } else {
            decoded += *code;
        }
    }
    for (size_t at = once.find('%'); at != std::string::npos; at = once.find('%', at + 1)) {
        if (code_at(once, at)) return kTwice;
    }
    return base::is_valid_utf8(decoded) ? std::string_view() : kText;
}

std::string_view without_parameters(std::string_view segment) {
    return segment.substr(0, segment.find(';'));
}

bool is_dots(std::string_view segment) {
    return segment == "." || segment == "..";
}

bool has_coded_slash(std::string_view decoded) {
    return decoded.find(kCodedSlash) != std::string_view::npos;
}

// The texts between coded slashes.
std::vector<std::string_view> pieces_of(std::string_view decoded) {
    std::vector<std::string_view> pieces;
    for (size_t slash = decoded.find(kCodedSlash); slash != std::string_view::npos;
         slash = decoded.find(kCodedSlash)) {
        pieces.push_back(decoded.substr(0, slash));
        decoded.remove_prefix(slash + kCodedSlash.size());
    }
    pieces.push_back(decoded);
    return pieces;
}

// Some servers take a coded slash as a separator, so each piece must be canonical as a segment is. Some strip
// parameters before they resolve dots: "..;x" leads up there.
std::string_view fault_of_pieces(const std::vector<std::string_view>& pieces) {
    for (std::string_view piece : pieces) {
        std::string_view bare = without_parameters(piece);
        if (bare.empty()) return kEmptySegment;
        if (is_dots(piece) || is_dots(bare)) return kDots;
    }
    return {};
}

std::vector<std::string> lower(const std::vector<std::string>& texts) {
    std::vector<std::string> result;
    result.reserve(texts.size());
    for (const std::string& text : texts) result.push_back(base::lower(text));
    return result;
}

std::vector<std::string> bare_of(const std::vector<std::string>& segments) {
    std::vector<std::string> result;
    for (const std::string& segment : segments) result.emplace_back(without_parameters(segment));
    return result;
}

std::vector<std::string> divided(const std::vector<std::string>& segments) {
    std::vector<std::string> result;
    for (const std::string& segment : segments) {
        for (std::string_view piece : pieces_of(segment)) result.emplace_back(piece);
    }
    return result;
}

// Any name with a coded slash: "*%2f*".
bool is_any_coded(const std::vector<std::string>& parts) {
    if (parts.size() == 1 || !std::ranges::any_of(parts, has_coded_slash)) return false;
    return std::ranges::all_of(parts, [](const std::string& part) {
        return std::ranges::all_of(pieces_of(part), [](std::string_view piece) { return piece.empty(); });
    });
}

// A pattern's texts between stars, in one more segment for each coded slash.
std::vector<std::vector<std::string>> divided_parts(const std::vector<std::string>& parts) {
    std::vector<std::vector<std::string>> result(1);
    for (const std::string& part : parts) {
        std::vector<std::string_view> pieces = pieces_of(part);
        for (size_t i = 0; i < pieces.size(); ++i) {
            if (i > 0) result.emplace_back();
            result.back().emplace_back(pieces[i]);
        }
    }
    return result;
}

}  // namespace

std::string_view read_target(std::string_view target, CanonicalPath& path) {
    size_t mark = target.find('?');
    path.path = target.substr(0, mark);
    path.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
    path.segments.clear();
    path.readings.assign(1, {});
    if (!path.path.starts_with('/')) return kNotAPath;
    std::string_view rest = path.path.substr(1);
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty()) return path.path.size() > 1 ? kEmptySegment : std::string_view();
    bool has_parameters = false;
    size_t count = 0;
    for (std::string_view segment : base::split(rest, '/')) {
        if (segment.empty()) return kEmptySegment;
        std::string& decoded = path.segments.emplace_back();
        if (std::string_view fault = decode(segment, decoded); !fault.empty()) return fault;
        std::vector<std::string_view> pieces = pieces_of(decoded);
        count += pieces.size();
        if (count > kMaximumSegments) return kMany;
        if (std::string_view fault = fault_of_pieces(pieces); !fault.empty()) return fault;
        has_parameters |= decoded.find(';') != std::string::npos;
    }
    path.readings.front() = lower(path.segments);
    if (has_parameters) path.readings.push_back(bare_of(path.readings.front()));
    if (count == path.segments.size()) return {};
    for (size_t i = 0, own = path.readings.size(); i < own; ++i)
        path.readings.push_back(divided(path.readings[i]));
    // "/a;x%2fb" is "/a/b" for a server that decodes first and then strips parameters.
    if (has_parameters) path.readings.push_back(bare_of(divided(path.readings.front())));
    return {};
}

CanonicalPath without_ending(const CanonicalPath& path) {
    CanonicalPath result = path;
    for (std::vector<std::string>& reading : result.readings) {
        if (reading.empty()) continue;
        std::string& last = reading.back();
        last.resize(std::min(last.rfind('.'), last.size()));
        last.resize(last.find_last_not_of(' ') + 1);
    }
    return result;
}

bool matches_parts(const std::vector<std::string>& parts, std::string_view text) {
    if (parts.size() == 1) return parts.front() == text;
    const std::string& first = parts.front();
    const std::string& last = parts.back();
    if (text.size() < first.size() + last.size()) return false;
    if (!text.starts_with(first) || !text.ends_with(last)) return false;
    std::string_view middle = text.substr(first.size(), text.size() - first.size() - last.size());
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
        size_t found = middle.find(parts[i]);
        if (found == std::string_view::npos) return false;
        middle.remove_prefix(found + parts[i].size());
    }
    return true;
}

base::Result<PathPattern> PathPattern::parse(std::string_view text) {
    auto refuse = [&](std::string_view why) {
        return base::Error{.what = base::format("{} is not a path of a request: {}", in_quotes(text), why),
                           .advice = "write it like /repos/me/*/issues, with ** for any depth"};
    };
    if (!text.starts_with('/')) return refuse("it does not start with a slash");
    if (text.find_first_of("?# \t") != std::string_view::npos)
        return refuse("rules do not match queries, and a path holds no blank");
    PathPattern pattern;
    std::string_view rest = text.substr(1);
    if (rest.ends_with('/')) rest.remove_suffix(1);
    std::vector<std::string_view> written;
    if (!rest.empty()) written = base::split(rest, '/');
    if (written.size() > kMaximumSegments) return refuse(kMany);
    for (std::string_view segment : written) {
        if (segment.empty()) return refuse(kEmptySegment);
        Segment& parts = pattern.segments_.emplace_back();
        if (segment == "**") {
            ++pattern.depths_;
            continue;
        }
        if (segment.find("**") != std::string_view::npos) return refuse("** stands for whole segments");
        for (std::string_view part : base::split(segment, '*')) {
            std::string_view fault = decode(part, parts.emplace_back());
            if (!fault.empty()) return refuse(fault);
        }
        if (parts.size() == 1) {
            if (std::string_view fault = fault_of_pieces(pieces_of(parts.front())); !fault.empty())
                return refuse(fault);
        }
        // It is as wide as `**` is, so that an entry about every path decides before it.
        ++(parts.size() == 1 ? pattern.literals_ : is_any_coded(parts) ? pattern.depths_ : pattern.stars_);
    }
    for (const Segment& parts : pattern.segments_) {
        pattern.lower_.push_back(lower(parts));
        std::vector<Segment> own = divided_parts(pattern.lower_.back());
        std::ranges::move(own, std::back_inserter(pattern.divided_));
    }
    if (pattern.divided_.size() == pattern.lower_.size()) pattern.divided_.clear();
    return pattern;
}

// As a glob over letters, where a segment is the letter and `**` the star: after a mismatch only the last
// `**` can take one segment more, so that the time is bounded by the product of both lengths.
template <typename Match>
bool PathPattern::match(const std::vector<Segment>& pattern, const std::vector<std::string>& segments,
                        Match matches_segment) {
    size_t at = 0, next = 0;
    std::optional<size_t> depth;
    size_t taken = 0;
    while (next < segments.size()) {
        if (at < pattern.size() && pattern[at].empty()) {
            depth = at++;
            taken = next;
        } else if (at < pattern.size() && matches_segment(pattern[at], segments[next])) {
            ++at;
            ++next;
        } else if (depth) {
            at = *depth + 1;
            next = ++taken;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at].empty()) ++at;
    return at == pattern.size();
}

bool PathPattern::matches(const std::vector<std::string>& segments) const {
    bool spells_none = divided_.empty();
    if (spells_none && std::ranges::any_of(segments, has_coded_slash)) return false;
    return match(segments_, segments, [](const Segment& parts, const std::string& segment) {
        bool is_spelled = !has_coded_slash(segment) || std::ranges::any_of(parts, has_coded_slash);
        return is_spelled && matches_parts(parts, segment);
    });
}

bool PathPattern::matches_any_spelling(const CanonicalPath& path) const {
    return std::ranges::any_of(path.readings, [&](const std::vector<std::string>& reading) {
        return match(lower_, reading, matches_parts) ||
               (!divided_.empty() && match(divided_, reading, matches_parts));
    });
}

}  // namespace network::requests
