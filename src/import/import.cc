// SPDX-License-Identifier: MIT
#include "import/import.h"

#include <algorithm>

#include "base/text.h"
#include "config/toml_text.h"
#include "config/value.h"
#include "import/bash.h"
#include "import/srt.h"

namespace config {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

std::string LeftOut::describe() const {
    return (line > 0 ? base::format("line {}: ", line) : std::string()) + text + ": " + reason;
}

std::string Imported::summary() const {
    return base::format("carried over {}{}, left out {}", carried, carried == 1 ? " setting" : " settings",
                        left_out.size() + more_left_out);
}

base::Result<Imported> import_file(std::string_view text, const ImportOptions& options) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    bool is_json = base::trim(text).starts_with('{');
    if (is_json) return import_srt(text, options);
    return import_bash(text, options);
}

namespace {

// A comment ends with its line, so make text from outside printable: it must not contain a line break.
std::string comment(std::string_view text) {
    return base::format("# {}\n", base::printable(text));
}

// A user does not read more than this.
constexpr size_t kMostLeftOut = 10000;
constexpr size_t kLongestShown = 200;

// Printable, and short enough for a line.
std::string shown(std::string_view text) {
    if (text.size() <= kLongestShown) return base::printable(text);
    size_t end = kLongestShown;
    while (end > kLongestShown - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return base::printable(text.substr(0, end)) + " …";
}

}  // namespace

void ImportWriter::leave_out(const Source& source, std::string_view reason) {
    if (left_out_.size() >= kMostLeftOut) {
        ++result_.more_left_out;
        return;
    }
    left_out_.emplace(source.line, LeftOut{source.line, shown(source.text), std::string(reason)});
}

bool ImportWriter::set(std::string_view key, std::string_view raw, const Source& source) {
    const Setting* setting = find_setting(key);
    if (setting != nullptr) return set(*setting, raw, source);
    leave_out(source, base::format("this version has no setting {}", key));
    return false;
}

bool ImportWriter::set(const Setting& setting, std::string_view raw, const Source& source) {
    if (!base::is_valid_utf8(raw)) {
        leave_out(source, "it is not UTF-8, which TOML demands");
        return false;
    }
    base::Result<std::string> text = canonical_text(setting, raw);
    base::Status checked = base::success();
    if (text && options_.check) checked = options_.check(setting, *text);
    if (!text || !checked) {
        const base::Error& error = text ? checked.error() : text.error();
        leave_out(source, error.what + (error.advice.empty() ? "" : "; " + error.advice));
        return false;
    }
    lines_.emplace(&setting, source.line);
    if (!is_list(setting.type)) {
        scalars_[&setting] = *std::move(text);
        return true;
    }
    List& list = lists_[&setting];
    bool has_name = setting.type == Type::assignments;
    std::string name = has_name ? text->substr(0, text->find('=') + 1) : *text;
    auto [place, is_new] = list.places.emplace(std::move(name), list.next);
    if (!is_new) {
        list.entries.erase(place->second);
        place->second = list.next;
    }
    list.entries.emplace(list.next++, *std::move(text));
    return true;
}

bool ImportWriter::match(const std::string& pattern) {
    if (options_.for_administrator) return false;
    auto is_within = [](std::string_view inner, std::string_view outer) {
        return outer.ends_with("/**") && inner.starts_with(outer.substr(0, outer.size() - 2));
    };
    if (!match_ || is_within(pattern, *match_)) match_ = pattern;
    return pattern == *match_ || is_within(*match_, pattern);
}

std::string ImportWriter::line_of(const Setting& setting) const {
    if (auto scalar = scalars_.find(&setting); scalar != scalars_.end())
        return toml_scalar(setting, scalar->second);
    auto list = lists_.find(&setting);
    if (list == lists_.end()) return {};
    std::vector<std::string> entries;
    for (const auto& [place, entry] : list->second.entries) entries.push_back(entry);
    return toml_list(setting, entries);
}

void ImportWriter::leave_out_of_users_file(const Setting& setting) {
    leave_out({lines_[&setting], base::format("{} = {}", setting.key, line_of(setting))},
              "only the administrator's file can say this: 'config import --admin' makes one");
}

std::vector<ImportWriter::Tagged> ImportWriter::tagged_values() const {
    std::vector<Tagged> values;
    auto add = [&](const Setting* setting, const std::string& text) {
        Layer layer = options_.for_administrator ? Layer::admin : Layer::user;
        int number = static_cast<int>(values.size()) + 1;
        values.push_back({setting, text, {.layer = layer, .file = "imported value", .line = number}});
    };
    for (const auto& [setting, text] : scalars_) add(setting, text);
    for (const auto& [setting, list] : lists_) {
        for (const auto& [place, entry] : list.entries) add(setting, entry);
    }
    std::erase_if(values, [&](const Tagged& value) {
        return value.setting->order == Order::admin_only && !options_.for_administrator;
    });
    return values;
}

void ImportWriter::drop(const Tagged& value, const base::Error& reason) {
    leave_out({lines_[value.setting], base::format("{} = {}", value.setting->key, value.text)},
              "no run would start with it: " + reason.what);
    scalars_.erase(value.setting);
    auto list = lists_.find(value.setting);
    if (list == lists_.end()) return;
    std::erase_if(list->second.entries, [&](const auto& entry) { return entry.second == value.text; });
    if (list->second.entries.empty()) lists_.erase(list);
}

// Removes one value at a time until a run starts with the rest.
void ImportWriter::drop_what_prevents_starts() {
    while (options_.starts) {
        std::vector<Tagged> tagged = tagged_values();
        Values values;
        for (const Tagged& one : tagged) {
            Value& value = values[std::string(one.setting->key)];
            value.origin = one.origin;
            if (is_list(one.setting->type)) {
                value.items.push_back({one.text, one.origin});
            } else {
                value.text = one.text;
            }
        }
        base::Status started = options_.starts(values);
        if (started) return;
        const base::Error& error = started.error();
        auto is_named = [&](const Tagged& value) {
            std::string name = value.origin.describe();
            for (const std::string& text : {error.where, error.what}) {
                size_t at = text.find(name);
                if (at == std::string::npos) continue;
                char after = text.c_str()[at + name.size()];
                if (after < '0' || after > '9') return true;
            }
            return false;
        };
        auto found = std::ranges::find_if(tagged, is_named);
        if (found == tagged.end()) {
            result_.obstacle = error.line();
            return;
        }
        drop(*found, error);
    }
}

Imported ImportWriter::finish(std::string_view origin) {
    drop_what_prevents_starts();
    std::string toml = comment(base::format("Made by 'agent-sandbox config import' from {}.", origin));
    for (const std::string& remark : remarks_) toml += comment(remark);
    if (match_) toml += base::format("\n[match]\nproject = {}\n", toml_string(*match_));
    std::string_view section;
    for (const Setting& setting : settings()) {
        std::string line = line_of(setting);
        if (line.empty()) continue;
        if (setting.order == Order::admin_only && !options_.for_administrator) {
            leave_out_of_users_file(setting);
            continue;
        }
        if (section_of(setting) != section) toml += base::format("\n[{}]\n", section_of(setting));
        section = section_of(setting);
        toml += base::format("{} = {}\n", name_in_section(setting), line);
        ++result_.carried;
    }
    for (auto& [line, left] : left_out_) result_.left_out.push_back(std::move(left));
    result_.toml = base::format("{}\n{}", toml, comment(base::format("Import: {}.", result_.summary())));
    for (const LeftOut& left : result_.left_out) result_.toml += comment("  " + left.describe());
    if (result_.more_left_out > 0)
        result_.toml += comment(base::format("  and {} more", result_.more_left_out));
    return std::move(result_);
}

}  // namespace config
