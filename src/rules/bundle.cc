// SPDX-License-Identifier: MIT
#include "rules/bundle.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "config/data.h"
#include "rules/names/name.h"
#include "rules/rule.h"

namespace network {
namespace {

using base::Error;
using base::Result;

struct Row {
    std::string_view entry;
    std::string_view reason;
};

std::optional<std::vector<Row>> rows_of(std::string_view bundle, const std::vector<Bundle>& found) {
    std::vector<Row> rows;
    if (auto own = std::ranges::find(found, bundle, &Bundle::name); own != found.end()) {
        for (const std::string& entry : own->entries)
            rows.push_back({entry, "named by the client's configuration"});
        return rows;
    }
    std::string list = "bundles/" + std::string(bundle);
    for (const config::DataRow& row : config::data_list(list)) rows.push_back({row.entry, row.reason});
    return rows.empty() ? std::nullopt : std::optional(std::move(rows));
}

Error unknown_bundle(std::string_view bundle, const std::vector<Bundle>& found) {
    std::vector<std::string_view> known;
    for (const config::DataRow& row : config::data_list("network/bundles")) known.push_back(row.entry);
    for (const Bundle& own : found) known.emplace_back(own.name);
    std::string meant = base::nearest(bundle, known);
    return Error{
        .what = "there is no bundle " + in_quotes("@" + std::string(bundle)),
        .advice = meant.empty() ? "name the hosts" : base::format("'@{}' was probably meant", meant)};
}

struct Expansion {
    Side side;
    const std::vector<Bundle>& found;
    std::vector<Rule> rules;

    // Bundles in bundles are few and shipped. The limit only stops a circular reference.
    base::Status add(std::string_view bundle, int depth = 0) {
        constexpr int kDeepest = 4;
        std::optional<std::vector<Row>> rows = depth < kDeepest ? rows_of(bundle, found) : std::nullopt;
        if (!rows) return unknown_bundle(bundle, found);
        for (const Row& row : *rows) {
            if (row.entry.starts_with('@')) {
                if (base::Status added = add(row.entry.substr(1), depth + 1); !added) return added;
                continue;
            }
            Result<Rule> rule = parse_rule(row.entry, side);
            if (!rule) return rule.error();
            rule->bundle = bundle;
            rule->reason = row.reason;
            rules.push_back(std::move(*rule));
        }
        return base::success();
    }
};

}  // namespace

Result<std::vector<Rule>> rules_of(const config::Item& item, Side side, const std::vector<Bundle>& found) {
    auto located = [&](Error error) {
        error.where = item.origin.describe();
        return error;
    };
    Expansion expansion{side, found, {}};
    if (item.text.starts_with('@')) {
        base::Status added = expansion.add(std::string_view(item.text).substr(1));
        if (!added) return located(added.error());
    } else {
        Result<Rule> rule = parse_rule(item.text, side);
        if (!rule) return located(rule.error());
        expansion.rules.push_back(std::move(*rule));
    }
    for (Rule& rule : expansion.rules) rule.origin = item.origin;
    return std::move(expansion.rules);
}

namespace {

// Entries in their order, without duplicates.
class Entries {
  public:
    // Whether the text was a URL with a host.
    bool add_url(std::string_view url) {
        std::string entry = entry_of_url(url);
        if (entry.empty()) return false;
        add(std::move(entry));
        return true;
    }
    void add_urls(std::string_view words) {
        std::string separated(words);
        std::ranges::replace_if(
            separated, [](char letter) { return letter == '\t' || letter == ',' || letter == '\r'; }, ' ');
        for (std::string_view word : base::split(separated, ' ')) add_url(word);
    }
    void add(std::string entry) {
        if (!has(entry)) entries_.push_back(std::move(entry));
    }
    bool is_empty() const { return entries_.empty(); }
    bool has(std::string_view entry) const { return std::ranges::find(entries_, entry) != entries_.end(); }
    std::vector<std::string> take() { return std::move(entries_); }

  private:
    std::vector<std::string> entries_;
};

struct Pair {
    std::string_view key;
    std::string_view value;
};

std::string_view unquoted(std::string_view text) {
    bool is_quoted =
        text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
    return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// "key = value" or "key: value". Nothing for comments and section headers.
std::optional<Pair> pair_in(std::string_view line, char separator) {
    line = base::trim(line);
    if (line.empty() || line[0] == '#' || line[0] == ';' || line[0] == '[') return std::nullopt;
    size_t at = line.find(separator);
    if (at == std::string_view::npos) return std::nullopt;
    return Pair{base::trim(line.substr(0, at)), unquoted(base::trim(line.substr(at + 1)))};
}

bool is_continued(std::string_view line) {
    return !line.empty() && (line[0] == ' ' || line[0] == '\t');
}

bool is_remark(std::string_view line) {
    line = base::trim(line);
    return line.starts_with('#');
}

}  // namespace

std::string entry_of_url(std::string_view url) {
    size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return {};
    std::string_view rest = url.substr(scheme + 3);
    std::string_view authority = rest.substr(0, rest.find_first_of("/?#\"'"));
    size_t at = authority.rfind('@');
    if (at != std::string_view::npos) authority.remove_prefix(at + 1);
    // A variable in braces, a local file or other text that is not a host.
    base::Result<Rule> rule = parse_rule(authority, Side::allow);
    bool is_host = rule && (rule->target == Target::host ||
                            (rule->target == Target::network && rule->prefix.length() == 128));
    return is_host ? std::string(authority) : std::string();
}

std::vector<std::string> npm_entries(std::string_view npmrc) {
    Entries entries;
    bool has_default = false;
    for (std::string_view line : base::split(npmrc, '\n')) {
        std::optional<Pair> pair = pair_in(line, '=');
        if (!pair) continue;
        bool is_main = pair->key == "registry";
        if (!is_main && !pair->key.ends_with(":registry")) continue;
        has_default = (entries.add_url(pair->value) && is_main) || has_default;
    }
    if (!entries.is_empty() && !has_default) entries.add("registry.npmjs.org");
    return entries.take();
}

std::vector<std::string> pip_entries(std::string_view pip_conf) {
    constexpr std::string_view kKeys[] = {"index-url", "extra-index-url", "find-links",
                                          "index_url", "extra_index_url", "find_links"};
    Entries entries;
    bool has_index = false, is_list = false;
    for (std::string_view line : base::split(pip_conf, '\n')) {
        if (is_remark(line)) continue;
        if (is_continued(line)) {
            if (is_list) entries.add_urls(line);
            continue;
        }
        std::optional<Pair> pair = pair_in(line, '=');
        is_list = pair && std::ranges::find(kKeys, pair->key) != std::end(kKeys);
        if (!is_list) continue;
        entries.add_urls(pair->value);
        has_index = has_index || pair->key == kKeys[0] || pair->key == kKeys[3];
    }
    // The packages of the public index are on another host.
    bool is_public = entries.has("pypi.org");
    if (is_public || (!entries.is_empty() && !has_index)) entries.add("@pypi");
    return entries.take();
}

// Parses the part of YAML that is common here: keys at the margin, items and pairs below them.
std::vector<std::string> conda_entries(std::string_view condarc) {
    Entries entries;
    std::string_view section;
    bool names_channels = false, wants_defaults = false, has_alias = false, has_defaults = false;
    auto add_item = [&](std::string_view item) {
        item = unquoted(base::trim(item));
        if (item.empty() || entries.add_url(item)) return;
        if (section != "channels") return;
        (item == "defaults" ? wants_defaults : names_channels) = true;
    };
    for (std::string_view line : base::split(condarc, '\n')) {
        if (is_remark(line) || base::trim(line).empty()) continue;
        std::string_view text = base::trim(line);
        if (text.starts_with("- ")) {
            add_item(text.substr(2));
            continue;
        }
        std::optional<Pair> pair = pair_in(line, ':');
        if (!pair) continue;
        if (!is_continued(line)) section = pair->key;
        bool is_about_channels = section == "channels" || section == "default_channels" ||
                                 section == "channel_alias" || section == "custom_channels" ||
                                 section == "custom_multichannels" || section == "migrated_channel_aliases";
        if (!is_about_channels) continue;
        has_defaults = has_defaults || section == "default_channels";
        std::string_view value = pair->value;
        if (value.starts_with('[') && value.ends_with(']')) {
            for (std::string_view item : base::split(value.substr(1, value.size() - 2), ',')) add_item(item);
        } else if (entries.add_url(value) && section == "channel_alias") {
            has_alias = true;
        }
    }
    if (names_channels && !has_alias) entries.add("conda.anaconda.org");
    if (wants_defaults && !has_defaults) entries.add("repo.anaconda.com");
    // The packages of the public channels are on other hosts.
    if (entries.has("conda.anaconda.org")) {
        entries.add("conda-static.anaconda.org");
        entries.add("binstar-cio-packages-prod.s3.amazonaws.com");
    }
    return entries.take();
}

std::vector<std::string> cargo_entries(std::string_view config_toml) {
    constexpr std::string_view kKeys[] = {"index", "registry", "git"};
    Entries entries;
    bool replaces_default = false;
    std::string_view section;
    for (std::string_view line : base::split(config_toml, '\n')) {
        std::string_view text = base::trim(line);
        if (text.starts_with('[')) section = text;
        bool is_source = section.starts_with("[source.") || section.starts_with("[registries.");
        std::optional<Pair> pair = pair_in(line, '=');
        if (!is_source || !pair) continue;
        if (pair->key == "replace-with" && section.find("crates-io") != std::string_view::npos)
            replaces_default = true;
        if (std::ranges::find(kKeys, pair->key) != std::end(kKeys)) entries.add_url(pair->value);
    }
    if (!entries.is_empty() && !replaces_default) entries.add("@crates");
    return entries.take();
}

std::vector<std::string> apt_entries(std::string_view sources) {
    Entries entries;
    bool in_addresses = false;
    for (std::string_view line : base::split(sources, '\n')) {
        if (is_remark(line)) continue;
        line = line.substr(0, line.find(" #"));
        std::string_view text = base::trim(line);
        if (text.starts_with("deb ") || text.starts_with("deb-src ") || text.starts_with("deb\t")) {
            entries.add_urls(text);
            continue;
        }
        if (is_continued(line)) {
            if (in_addresses) entries.add_urls(text);
            continue;
        }
        std::optional<Pair> pair = pair_in(line, ':');
        in_addresses = pair && (pair->key == "URIs" || pair->key == "uris" || pair->key == "Uris");
        if (in_addresses) entries.add_urls(pair->value);
    }
    return entries.take();
}

}  // namespace network
