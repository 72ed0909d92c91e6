// SPDX-License-Identifier: MIT
// The only file that sees the TOML library. It walks the parsed tree with the table of settings in hand:
// every key of the file either is a row of that table, leads to one, or is a problem. Problems are collected,
// not thrown, so that one reading shows all of them.
#include "config/layer.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/path.h"
#include "base/text.h"

// The library asserts what a malformed file breaks (release 3.3: "[[[") and copes with it all the same. An
// assertion would abort, and with NDEBUG clang would take it for granted; both are wrong for a file that
// anybody may have written.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace config {
namespace {

using base::Error;

constexpr std::string_view kMatchSection = "match";
constexpr std::string_view kAllSettings = "'agent-sandbox help settings' lists all settings";

// The rows that a file of this layer may hold.
std::vector<const Setting*> rows_for(Layer layer) {
    std::vector<const Setting*> rows;
    for (const Setting& row : settings()) rows.push_back(&row);
    if (layer != Layer::profile) return rows;
    for (const Setting& row : profile_settings()) rows.push_back(&row);
    return rows;
}

std::string_view name_of(toml::node_type type) {
    switch (type) {
        case toml::node_type::none:
            return "nothing";
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "a list";
        case toml::node_type::string:
            return "a text";
        case toml::node_type::integer:
            return "a number";
        case toml::node_type::floating_point:
            return "a fraction";
        case toml::node_type::boolean:
            return "true or false";
        case toml::node_type::date:
        case toml::node_type::time:
        case toml::node_type::date_time:
            return "a date or time";
    }
    return "something else";
}

// The parser says what it saw; whoever wrote the file wants to know what to write.
struct ParserAdvice {
    std::string_view said;
    std::string_view advice;
};
constexpr ParserAdvice kParserAdvice[] = {
    {"could not determine value type", "a text stands in quotes, for instance mode = \"proxied\""},
    {"parsing floating-point: expected", "a text stands in quotes, for instance mode = \"isolated\""},
    {"parsing boolean", "a text stands in quotes; true and false stand without"},
    {"expected digit", "a size or a time stands in quotes, for instance \"4G\" or \"8h\""},
    {"control characters", "the closing \" is missing"},
    {"expected '='", "write NAME = VALUE"},
};

std::string advice_for(std::string_view description) {
    auto row = std::ranges::find_if(kParserAdvice, [&](const ParserAdvice& candidate) {
        return description.find(candidate.said) != std::string_view::npos;
    });
    return row == std::end(kParserAdvice) ? "" : std::string(row->advice);
}

// "'a', 'b' or 'c'".
std::string one_of(std::vector<std::string> names) {
    std::string last = std::move(names.back());
    names.pop_back();
    return names.empty() ? last : base::join(names, ", ") + " or " + last;
}

class Reader {
  public:
    Reader(Layer layer, std::string file) : rows_(rows_for(layer)) {
        parsed_.content.layer = layer;
        parsed_.content.file = std::move(file);
    }

    ParsedFile read(std::string_view text) {
        toml::parse_result result = toml::parse(text, parsed_.content.file);
        if (result.failed()) {
            std::string_view description = result.error().description();
            add_problem(result.error().source(), base::printable(description), advice_for(description));
        } else {
            read_table(result.table(), "");
        }
        std::ranges::sort(problems_, [](const Located& a, const Located& b) {
            return std::tie(a.line, a.column) < std::tie(b.line, b.column);
        });
        for (Located& problem : problems_) parsed_.problems.push_back(std::move(problem.error));
        return std::move(parsed_);
    }

  private:
    struct Located {
        uint32_t line;
        uint32_t column;
        Error error;
    };

    Origin origin_at(const toml::source_region& source) const {
        return Origin{.layer = parsed_.content.layer,
                      .file = parsed_.content.file,
                      .line = static_cast<int>(source.begin.line),
                      .column = static_cast<int>(source.begin.column)};
    }

    void add_problem(const toml::source_region& source, std::string what, std::string advice) {
        uint32_t line = source.begin.line, column = source.begin.column;
        std::string where = parsed_.content.file + ":" + std::to_string(line) + ":" + std::to_string(column);
        problems_.push_back(
            {line, column,
             Error{.what = std::move(what), .advice = std::move(advice), .where = std::move(where)}});
    }

    void read_table(const toml::table& table, const std::string& prefix) {
        for (const auto& [name, node] : table) {
            std::string key =
                prefix.empty() ? std::string(name.str()) : prefix + "." + std::string(name.str());
            if (key == kMatchSection) {
                read_match(name, node);
            } else if (const Setting* setting = find_row(key)) {
                read_setting(*setting, node);
            } else if (is_section(key)) {
                read_section(name, node, key);
            } else {
                node.is_table() ? add_unknown_section(name, key) : add_unknown(name, key);
            }
        }
    }

    const Setting* find_row(std::string_view key) const {
        auto row = std::ranges::find(rows_, key, [](const Setting* candidate) { return candidate->key; });
        return row == rows_.end() ? nullptr : *row;
    }

    bool is_section(std::string_view prefix) const {
        std::string start = std::string(prefix) + ".";
        return std::ranges::any_of(rows_, [&](const Setting* row) { return row->key.starts_with(start); });
    }

    void read_section(const toml::key& name, const toml::node& node, const std::string& key) {
        if (const toml::table* table = node.as_table()) return read_table(*table, key);
        add_problem(name.source(), "'" + key + "' is a section, not a setting",
                    "write [" + key + "] and its settings below");
    }

    void add_unknown_section(const toml::key& name, const std::string& key) {
        std::vector<std::string_view> known;
        for (const Setting* row : rows_) {
            if (size_t dot = row->key.rfind('.'); dot != std::string_view::npos)
                known.push_back(row->key.substr(0, dot));
        }
        std::string meant = base::nearest(key, known);
        add_problem(name.source(), "unknown section [" + base::printable(key) + "]",
                    meant.empty() ? std::string(kAllSettings) : "did you mean [" + meant + "]?");
    }

    void add_unknown(const toml::key& name, const std::string& key) {
        std::vector<std::string_view> known;
        for (const Setting* row : rows_) known.push_back(row->key);
        std::vector<std::string> meant;
        std::string near = base::nearest(key, known);
        if (!near.empty()) meant.push_back("'" + near + "'");
        // A key written outside its section ("mode" at the top) is near to none; its last part may still be
        // exact.
        std::string end = "." + key.substr(key.rfind('.') + 1);
        for (std::string_view row : known) {
            bool is_meant = near.empty() && row.ends_with(end);
            if (is_meant) meant.push_back("'" + std::string(row) + "'");
        }
        add_problem(name.source(), "unknown setting '" + base::printable(key) + "'",
                    meant.empty() ? std::string(kAllSettings) : "did you mean " + one_of(meant) + "?");
    }

    void read_match(const toml::key& name, const toml::node& node) {
        if (parsed_.content.layer != Layer::user) {
            return add_problem(name.source(), "[match] has no meaning here",
                               "use it in the user's own files only");
        }
        const toml::table* table = node.as_table();
        if (table == nullptr) {
            return add_problem(node.source(), "'match' is a section",
                               "write [match] and project = \"/lab/**\" below");
        }
        for (const auto& [inner, value] : *table) {
            if (inner.str() != "project") {
                add_problem(inner.source(), "unknown key 'match." + base::printable(inner.str()) + "'",
                            "match.project is the only one");
            } else {
                read_match_project(value);
            }
        }
        if (table->empty()) {
            add_problem(name.source(), "[match] matches nothing", "add project = \"/lab/**\", or remove it");
        }
    }

    void read_match_project(const toml::node& node) {
        std::string pattern = node.value_or(std::string());
        bool is_from_home = pattern == "~" || pattern.starts_with("~/");
        if (!node.is_string() || (!pattern.starts_with('/') && !is_from_home)) {
            return add_problem(node.source(), "match.project must be a path or a pattern of one",
                               "write it from / or from ~, for instance \"/lab/genomics/**\"");
        }
        parsed_.content.match_project = std::move(pattern);
    }

    void read_setting(const Setting& setting, const toml::node& node) {
        Value value{.origin = origin_at(node.source())};
        size_t problems_before = problems_.size();
        if (setting.type == Type::assignments || setting.type == Type::file_texts) {
            read_assignments(setting, node, value);
        } else if (is_list(setting.type)) {
            read_list(setting, node, value);
        } else {
            read_scalar(setting, node, value);
        }
        if (problems_.size() == problems_before) {
            parsed_.content.values.emplace(std::string(setting.key), std::move(value));
        }
    }

    void add_wrong_type(const Setting& setting, const toml::node& node) {
        add_problem(node.source(),
                    std::string(setting.key) + " can't be " + std::string(name_of(node.type())),
                    "write " + expectation(setting));
    }

    void read_scalar(const Setting& setting, const toml::node& node, Value& value) {
        bool takes_number =
            setting.type == Type::integer || setting.type == Type::size || setting.type == Type::duration;
        bool takes_text = setting.type != Type::boolean && setting.type != Type::integer;
        if (setting.type == Type::boolean && node.is_boolean()) {
            value.text = node.value_or(false) ? "true" : "false";
        } else if ((takes_number && node.is_integer()) || (takes_text && node.is_string())) {
            std::string raw =
                node.is_integer() ? std::to_string(node.value_or(int64_t{0})) : node.value_or(std::string());
            if (auto text = canonical(setting, node, raw)) value.text = *std::move(text);
        } else {
            add_wrong_type(setting, node);
        }
    }

    void read_list(const Setting& setting, const toml::node& node, Value& value) {
        const toml::array* array = node.as_array();
        if (array == nullptr) return add_wrong_type(setting, node);
        for (const toml::node& element : *array) {
            if (!element.is_string()) {
                add_problem(
                    element.source(),
                    std::string(setting.key) + ": an entry can't be " + std::string(name_of(element.type())),
                    "write " + expectation(setting));
                continue;
            }
            if (auto text = canonical(setting, element, element.value_or(std::string()))) {
                add_item(setting, element, value, *std::move(text));
            }
        }
    }

    void read_assignments(const Setting& setting, const toml::node& node, Value& value) {
        const toml::table* table = node.as_table();
        if (table == nullptr) return add_wrong_type(setting, node);
        for (const auto& [name, element] : *table) {
            if (!element.is_string()) {
                add_problem(element.source(),
                            std::string(setting.key) + "." + base::printable(name.str()) + " can't be " +
                                std::string(name_of(element.type())),
                            "write a text in quotes");
                continue;
            }
            std::string raw = std::string(name.str()) + "=" + element.value_or(std::string());
            if (auto text = canonical(setting, element, raw))
                add_item(setting, element, value, *std::move(text));
        }
    }

    std::optional<std::string> canonical(const Setting& setting, const toml::node& node,
                                         const std::string& raw) {
        base::Result<std::string> text = canonical_text(setting, raw);
        if (text) return *std::move(text);
        add_problem(node.source(), text.error().what, text.error().advice);
        return std::nullopt;
    }

    void add_item(const Setting& setting, const toml::node& node, Value& value, std::string text) {
        auto same = std::ranges::find(value.items, text, &Item::text);
        if (same == value.items.end()) {
            value.items.push_back({std::move(text), origin_at(node.source())});
            return;
        }
        add_problem(node.source(),
                    std::string(setting.key) + ": '" + base::printable(text) + "' is written twice",
                    "remove one; the first is in line " + std::to_string(same->origin.line));
    }

    std::vector<const Setting*> rows_;
    ParsedFile parsed_;
    std::vector<Located> problems_;
};

}  // namespace

ParsedFile parse_layer(Layer layer, std::string file, std::string_view text) {
    return Reader(layer, std::move(file)).read(text);
}

base::Status add_text(Values& values, const Setting& setting, std::string_view raw, Origin origin) {
    base::Result<std::string> text = canonical_text(setting, raw);
    if (!text) {
        Error error = text.error();
        error.where = origin.describe();
        return error;
    }
    Value& value = values[std::string(setting.key)];
    if (!is_list(setting.type)) {
        value = Value{.origin = std::move(origin), .text = *std::move(text)};
        return base::success();
    }
    if (value.items.empty()) value.origin = origin;
    // A flag given twice is harmless: wrappers add flags to flags.
    if (std::ranges::find(value.items, *text, &Item::text) == value.items.end()) {
        value.items.push_back({*std::move(text), std::move(origin)});
    }
    return base::success();
}

}  // namespace config
