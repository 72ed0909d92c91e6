// SPDX-License-Identifier: MIT
// `config show`: every setting with its effective value and, on request, the place where it was set.

#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/config_parts.h"
#include "cli/output.h"

namespace cli {
namespace {

using base::Json;
using base::printable;
using base::Style;

Json scalar_json(const config::Setting& setting, const std::string& text) {
    switch (setting.type) {
        case config::Type::boolean:
            return text == "true";
        case config::Type::integer:
        case config::Type::size:
        case config::Type::duration: {
            const std::optional<int64_t> number = base::parse_number<int64_t>(text);
            return number ? Json(*number) : Json();
        }
        case config::Type::text:
            return text.empty() ? Json() : Json(config::without_secrets(text));
        case config::Type::choice:
        case config::Type::path:
        case config::Type::path_list:
        case config::Type::home_list:
        case config::Type::project_list:
        case config::Type::name_list:
        case config::Type::pattern_list:
        case config::Type::rule_list:
        case config::Type::level_list:
        case config::Type::assignments:
        case config::Type::file_texts:
            return text.empty() ? Json() : Json(text);
    }
    return {};
}

Json json_of(const config::Setting& setting, const policy::Effective& effective) {
    if (!config::is_list(setting.type)) {
        return Json::object()
            .set("value", scalar_json(setting, effective.text(setting.key)))
            .set("origin", effective.origin(setting.key).describe());
    }
    Json items = Json::array();
    for (const config::Item& item : effective.items(setting.key)) {
        items.push(Json::object().set("value", item.text).set("origin", item.origin.describe()));
    }
    return Json::object().set("items", std::move(items));
}

void add_rows(base::Table& table, const config::Setting& setting, const policy::Effective& effective,
              bool with_origin) {
    auto add = [&](std::string_view key, base::Cell value, const config::Origin* origin) {
        std::vector<base::Cell> row{{std::string(key)}, std::move(value)};
        if (with_origin && origin) row.push_back({printable(origin->describe()), Style::dim});
        table.add(std::move(row));
    };
    if (!config::is_list(setting.type)) {
        bool may_hold_secret = setting.type == config::Type::text;
        const std::string& whole = effective.text(setting.key);
        std::string text = may_hold_secret ? config::without_secrets(whole) : whole;
        base::Cell value = text.empty() ? base::Cell{"not set", Style::dim} : base::Cell{printable(text)};
        add(setting.key, std::move(value), &effective.origin(setting.key));
        return;
    }
    const std::vector<config::Item>& items = effective.items(setting.key);
    if (items.empty()) add(setting.key, {"none", Style::dim}, nullptr);
    for (const config::Item& item : items) {
        add(&item == &items.front() ? setting.key : "", {printable(item.text)}, &item.origin);
    }
}

}  // namespace

int config_show(const Invocation& call) {
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) return call.output.fail(settings.error());
    for (const std::string& warning : settings->effective.warnings) call.output.warning(warning);

    if (call.arguments.wants_json) {
        Json all = Json::object();
        for (const config::Setting& setting : config::settings()) {
            all.set(std::string(setting.key), json_of(setting, settings->effective));
        }
        return call.output.result(all.dump() + "\n");
    }
    base::Table table;
    for (const config::Setting& setting : config::settings()) {
        add_rows(table, setting, settings->effective, call.arguments.has_own("--origin"));
    }
    return call.output.result(table.text(0, call.output.colours_results()));
}

}  // namespace cli
