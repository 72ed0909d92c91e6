// SPDX-License-Identifier: MIT
// Two steps: the JSON object around the document, then the document. The document's reader knows the tokens
// of the language, the heads of operations and fragments, and the selections at the root. It skips everything
// inside brackets. A document with a block string is read twice: servers older than block strings read three
// strings instead.
#include "network/requests/graphql.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/text.h"
#include "network/requests/json_members.h"

namespace network::requests {
namespace {

constexpr std::string_view kGraphqlTooLong = "the GraphQL request is longer than 256 KiB";
constexpr std::string_view kNotJson = "the GraphQL request is not a JSON object";
constexpr std::string_view kArray = "an array of GraphQL requests is not served";
constexpr std::string_view kRepeated = "the GraphQL request has a member twice";
constexpr std::string_view kMember = "the GraphQL request has a member that could name another document";
constexpr std::string_view kNamed =
    "a GraphQL request with persistedQuery may name another document than its text";
constexpr std::string_view kExtensions = "the extensions of a GraphQL request are not a JSON object";
constexpr std::string_view kPersisted = "a persisted GraphQL query has no text to judge";
constexpr std::string_view kSyntax = "the GraphQL document is malformed";
constexpr std::string_view kGraphqlControl = "the GraphQL document has a control character or U+2028";
constexpr std::string_view kDeep = "the GraphQL document is nested deeper than 32";
constexpr std::string_view kDefinition = "the GraphQL document holds more than operations and fragments";
constexpr std::string_view kFragment = "a fragment at the root is not defined once in the document";
constexpr std::string_view kCycle = "fragments at the root name each other in a circle";
constexpr std::string_view kNoField = "the GraphQL document has no operation";
constexpr std::string_view kManyFields = "the GraphQL document has more than 1,024 root fields";

bool is_name_start(char letter) {
    return base::is_letter(letter) || letter == '_';
}

// Servers differ in where a comment or a string with such a character ends: graphql-java takes U+2028 as the
// end of a line.
bool has_control(std::string_view text) {
    bool has_byte = std::ranges::any_of(text, [](char letter) {
        return static_cast<unsigned char>(letter) < ' ' && letter != '\t' && letter != '\n' && letter != '\r';
    });
    return has_byte || text.find("\xe2\x80\xa8") != std::string_view::npos ||
           text.find("\xe2\x80\xa9") != std::string_view::npos;
}

// The size of an escape that every version of the language has, or 0.
size_t measure_escape(std::string_view text) {
    constexpr size_t kLongest = 6;  // \u0041
    if (text.size() < 2) return 0;
    if (text[1] != 'u') return std::string_view("\"\\/bfnrt").find(text[1]) == std::string_view::npos ? 0 : 2;
    std::string_view digits = text.substr(2, kLongest - 2);
    auto is_digit = [](char letter) { return base::is_lower_hex_digit(base::lower(letter)); };
    bool is_whole = digits.size() == kLongest - 2 && std::ranges::all_of(digits, is_digit);
    return is_whole ? kLongest : 0;
}

constexpr std::string_view kTripleQuote = "\"\"\"";
enum class Blocks { known, unknown };

// One token: a name, a number, a string, "..." or one punctuator. Empty at the end.
class Lexer {
  public:
    Lexer(std::string_view text, Blocks blocks) : rest_(text), blocks_(blocks) { advance(); }

    std::string_view token() const { return token_; }
    bool is_name() const { return !token_.empty() && is_name_start(token_.front()); }
    bool is_broken() const { return is_broken_; }
    bool is_at_end() const { return token_.empty(); }

    void advance() {
        skip_ignored();
        if (is_broken_ || rest_.empty()) {
            token_ = {};
            return;
        }
        size_t size = measure();
        if (size == 0) {
            is_broken_ = true;
            token_ = {};
            return;
        }
        token_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
    }
    bool take(std::string_view expected) {
        if (token_ != expected) return false;
        advance();
        return true;
    }

  private:
    void skip_ignored() {
        constexpr std::string_view kMark = "\xef\xbb\xbf";  // byte order mark
        for (;;) {
            size_t blanks = std::min(rest_.find_first_not_of(" \t\r\n,"), rest_.size());
            rest_.remove_prefix(blanks);
            if (rest_.starts_with('#')) {
                rest_.remove_prefix(std::min(rest_.find_first_of("\r\n"), rest_.size()));
                // For some readers only a line feed ends a comment.
                is_broken_ |= rest_.starts_with('\r') && !rest_.starts_with("\r\n");
            } else if (rest_.starts_with(kMark)) {
                rest_.remove_prefix(kMark.size());
            } else {
                return;
            }
        }
    }
    size_t measure() const {
        char first = rest_.front();
        if (is_name_start(first)) return measure_while(base::is_name_character);
        if (base::is_digit(first) || first == '-') {
            return measure_while([](char letter) {
                return base::is_name_character(letter) || letter == '.' || letter == '+' || letter == '-';
            });
        }
        if (first == '"') {
            bool is_block = blocks_ == Blocks::known && rest_.starts_with(kTripleQuote);
            return is_block ? measure_block() : measure_string();
        }
        if (rest_.starts_with("...")) return 3;
        return std::string_view("!$&():=@[]{|}").find(first) == std::string_view::npos ? 0 : 1;
    }
    template <typename Test>
    size_t measure_while(Test test) const {
        size_t size = 1;
        while (size < rest_.size() && test(rest_[size])) ++size;
        return size;
    }
    size_t measure_string() const {
        for (size_t i = 1; i < rest_.size(); ++i) {
            if (rest_[i] == '"') return i + 1;
            bool is_line_end = rest_[i] == '\n' || rest_[i] == '\r';
            if (is_line_end && blocks_ == Blocks::known) return 0;
            if (rest_[i] != '\\') continue;
            size_t escape = measure_escape(rest_.substr(i));
            if (escape == 0) return 0;
            i += escape - 1;
        }
        return 0;
    }
    // Some readers end a block string at the first three of four quotes, and graphql-ruby at the last three
    // of five. So a longer row is read as nothing, but for the empty text.
    size_t measure_block() const {
        constexpr size_t kRow = kTripleQuote.size();
        auto row_at = [&](size_t at) {
            return std::min(rest_.find_first_not_of('"', at), rest_.size()) - at;
        };
        if (row_at(0) == 2 * kRow) return 2 * kRow;
        if (row_at(0) > kRow) return 0;
        for (size_t i = kRow; i < rest_.size(); ++i) {
            size_t row = row_at(i);
            if (row < kRow) {
                i += row;
                continue;
            }
            if (row > kRow) return 0;
            if (rest_[i - 1] != '\\') return i + row;
            i += row - 1;
        }
        return 0;
    }

    std::string_view rest_;
    std::string_view token_;
    Blocks blocks_;
    bool is_broken_ = false;
};

struct Selection {
    std::vector<std::string> fields;
    std::vector<std::string> spreads;
};

class Document {
  public:
    Document(std::string_view text, Blocks blocks) : lexer_(text, blocks) {}

    std::string_view read(std::vector<RootField>& fields) {
        while (!lexer_.is_at_end()) {
            if (std::string_view fault = read_definition(); !fault.empty()) return fault;
        }
        if (lexer_.is_broken()) return kSyntax;
        for (const auto& [operation, selection] : operations_) {
            std::set<std::string> open;
            if (std::string_view fault = add(operation, selection, open, fields); !fault.empty())
                return fault;
        }
        return fields.empty() ? kNoField : std::string_view();
    }

  private:
    std::string_view read_definition() {
        constexpr Operation kOperations[] = {Operation::query, Operation::mutation, Operation::subscription};
        if (lexer_.token() == "{") return read_selection(operations_.emplace_back().second);
        std::string_view word = lexer_.token();
        if (word == "fragment") return read_fragment();
        const auto* operation =
            std::ranges::find(kOperations, word, [](Operation candidate) { return to_text(candidate); });
        if (operation == std::end(kOperations)) return kDefinition;
        lexer_.advance();
        if (lexer_.is_name()) lexer_.advance();
        if (lexer_.token() == "(") {
            if (std::string_view fault = skip_group(); !fault.empty()) return fault;
        }
        if (std::string_view fault = skip_directives(); !fault.empty()) return fault;
        operations_.emplace_back().first = *operation;
        return read_selection(operations_.back().second);
    }

    std::string_view read_fragment() {
        lexer_.advance();
        std::string name(lexer_.token());
        if (!lexer_.is_name() || name == "on") return kSyntax;
        lexer_.advance();
        if (!lexer_.take("on") || !lexer_.is_name()) return kSyntax;
        lexer_.advance();
        if (std::string_view fault = skip_directives(); !fault.empty()) return fault;
        auto [fragment, is_new] = fragments_.try_emplace(name);
        if (!is_new) return kFragment;
        return read_selection(fragment->second);
    }

    std::string_view read_selection(Selection& selection, int depth = 1) {
        if (depth > kMaximumGraphqlDepth) return kDeep;
        if (!lexer_.take("{") || lexer_.token() == "}") return kSyntax;
        while (!lexer_.take("}")) {
            std::string_view fault =
                lexer_.take("...") ? read_spread(selection, depth) : read_field(selection);
            if (!fault.empty()) return fault;
            if (lexer_.is_at_end()) return kSyntax;
        }
        return {};
    }

    // After "...": a named fragment, or an inline one with an optional type.
    std::string_view read_spread(Selection& selection, int depth) {
        bool is_inline = !lexer_.is_name() || lexer_.token() == "on";
        if (!is_inline) {
            selection.spreads.emplace_back(lexer_.token());
            lexer_.advance();
            return skip_directives();
        }
        if (lexer_.take("on")) {
            if (!lexer_.is_name()) return kSyntax;
            lexer_.advance();
        }
        if (std::string_view fault = skip_directives(); !fault.empty()) return fault;
        return read_selection(selection, depth + 1);
    }

    std::string_view read_field(Selection& selection) {
        std::string name(lexer_.token());
        if (!lexer_.is_name()) return kSyntax;
        lexer_.advance();
        if (lexer_.take(":")) {  // that was an alias
            name = lexer_.token();
            if (!lexer_.is_name()) return kSyntax;
            lexer_.advance();
        }
        if (selection.fields.size() == kMaximumRootFields) return kManyFields;
        selection.fields.push_back(std::move(name));
        if (lexer_.token() == "(") {
            if (std::string_view fault = skip_group(); !fault.empty()) return fault;
        }
        if (std::string_view fault = skip_directives(); !fault.empty()) return fault;
        return lexer_.token() == "{" ? skip_group() : std::string_view();
    }

    std::string_view skip_directives() {
        while (lexer_.take("@")) {
            if (!lexer_.is_name()) return kSyntax;
            lexer_.advance();
            if (lexer_.token() != "(") continue;
            if (std::string_view fault = skip_group(); !fault.empty()) return fault;
        }
        return {};
    }

    // From an opening bracket to its closing one.
    std::string_view skip_group() {
        constexpr std::string_view kOpen = "([{", kClose = ")]}";
        std::string expected;
        do {
            std::string_view token = lexer_.token();
            if (token.empty()) return kSyntax;
            if (size_t open = kOpen.find(token.front()); open != std::string_view::npos) {
                if (expected.size() == kMaximumGraphqlDepth) return kDeep;
                expected += kClose[open];
            } else if (kClose.find(token.front()) != std::string_view::npos) {
                if (expected.back() != token.front()) return kSyntax;
                expected.pop_back();
            }
            lexer_.advance();
        } while (!expected.empty());
        return {};
    }

    // `open` has the fragments on the way from the operation to here.
    std::string_view add(Operation operation, const Selection& selection, std::set<std::string>& open,
                         std::vector<RootField>& fields) {
        for (const std::string& name : selection.fields) {
            bool is_known = std::ranges::any_of(fields, [&](const RootField& field) {
                return field.operation == operation && field.name == name;
            });
            if (is_known) continue;
            if (fields.size() == kMaximumRootFields) return kManyFields;
            fields.push_back({.operation = operation, .name = name});
        }
        for (const std::string& spread : selection.spreads) {
            auto fragment = fragments_.find(spread);
            if (fragment == fragments_.end()) return kFragment;
            if (done_.contains({operation, spread})) continue;
            if (!open.insert(spread).second) return kCycle;
            if (open.size() > kMaximumGraphqlDepth) return kDeep;
            std::string_view fault = add(operation, fragment->second, open, fields);
            if (!fault.empty()) return fault;
            open.erase(spread);
            done_.insert({operation, spread});
        }
        return {};
    }

    Lexer lexer_;
    std::vector<std::pair<Operation, Selection>> operations_;
    std::map<std::string, Selection> fragments_;
    std::set<std::pair<Operation, std::string>> done_;
};

}  // namespace

std::string_view read_graphql_document(std::string_view document, std::vector<RootField>& fields) {
    fields.clear();
    if (document.size() > kMaximumGraphql) return kGraphqlTooLong;
    if (has_control(document)) return kGraphqlControl;
    std::string_view fault = Document(document, Blocks::known).read(fields);
    if (!fault.empty() || document.find(kTripleQuote) == std::string_view::npos) return fault;
    // An older server refuses what it can't read.
    std::vector<RootField> of_older;
    std::string_view older = Document(document, Blocks::unknown).read(of_older);
    if (!older.empty()) return older == kSyntax ? std::string_view() : older;
    for (RootField& field : of_older) {
        if (std::ranges::find(fields, field) == fields.end()) fields.push_back(std::move(field));
    }
    return {};
}

std::string_view read_graphql(std::string_view body, std::vector<RootField>& fields) {
    fields.clear();
    if (body.size() > kMaximumGraphql) return kGraphqlTooLong;
    base::Result<base::Json> parsed = base::Json::parse(body);
    if (!parsed) return kNotJson;
    if (parsed->is_array()) return kArray;
    if (!parsed->is_object()) return kNotJson;
    // The library keeps the last of two members, another one may keep the first.
    if (count_members(body) != parsed->members().size()) return kRepeated;
    constexpr std::string_view kMembers[] = {"query", "variables", "operationName", "extensions"};
    for (const auto& [name, value] : parsed->members()) {
        if (std::ranges::find(kMembers, name) == std::end(kMembers)) return kMember;
    }
    // Some servers look the document up by the hash and do not read the text.
    const base::Json* extensions = parsed->find("extensions");
    if (extensions != nullptr && !extensions->is_null()) {
        // A text is parsed as JSON by some.
        if (!extensions->is_object()) return kExtensions;
        for (const auto& [name, value] : extensions->members()) {
            if (base::equals_ignoring_case(name, "persistedQuery")) return kNamed;
        }
    }
    const base::Json* query = parsed->find("query");
    if (query == nullptr || query->as_text() == nullptr || query->as_text()->empty()) return kPersisted;
    return read_graphql_document(*query->as_text(), fields);
}

}  // namespace network::requests
