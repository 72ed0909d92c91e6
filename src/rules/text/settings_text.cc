// SPDX-License-Identifier: MIT
#include "rules/text/settings_text.h"

namespace network {
namespace {

using config::Item;
using config::Layer;
using config::Origin;
using policy::NetworkMode;

constexpr std::string_view kVersion = "agent-sandbox rules 1";

constexpr bool EngineSettings::*kSwitches[] = {
    &EngineSettings::are_literals_open,
    &EngineSettings::has_shipped_list,
    &EngineSettings::is_asking,
    &EngineSettings::is_observing,
};
constexpr std::vector<Item> EngineSettings::*kLists[] = {
    &EngineSettings::block,         &EngineSettings::allow, &EngineSettings::private_networks,
    &EngineSettings::host_services, &EngineSettings::udp,
};

}  // namespace

void write_origin(base::FieldWriter& writer, const Origin& origin) {
    writer.add(static_cast<int>(origin.layer));
    writer.add(std::string_view(origin.describe()));
}

Origin read_origin(base::FieldReader& reader) {
    auto layer = reader.get_one_of(Layer::command_line);
    return Origin{.layer = layer, .file = {}, .name = std::string(reader.next())};
}

void write_settings(base::FieldWriter& writer, const EngineSettings& settings) {
    writer.add(static_cast<int>(settings.mode));
    write_origin(writer, settings.mode_origin);
    write_origin(writer, settings.literals_origin);
    for (auto which : kSwitches) writer.add(settings.*which ? 1 : 0);
    for (auto list : kLists) {
        writer.add((settings.*list).size());
        for (const Item& item : settings.*list) {
            writer.add(std::string_view(item.text));
            write_origin(writer, item.origin);
        }
    }
    writer.add(settings.bundles.size());
    for (const Bundle& bundle : settings.bundles) {
        writer.add(std::string_view(bundle.name));
        writer.add(bundle.entries);
    }
}

EngineSettings read_settings(base::FieldReader& reader) {
    EngineSettings settings;
    settings.mode = reader.get_one_of(NetworkMode::isolated);
    settings.mode_origin = read_origin(reader);
    settings.literals_origin = read_origin(reader);
    for (auto which : kSwitches) reader.get(settings.*which);
    for (auto list : kLists) {
        size_t count = reader.get_count();
        for (size_t i = 0; i < count && reader.is_good(); ++i) {
            Item item{.text = std::string(reader.next()), .origin = {}};
            item.origin = read_origin(reader);
            (settings.*list).push_back(std::move(item));
        }
    }
    size_t count = reader.get_count();
    for (size_t i = 0; i < count && reader.is_good(); ++i) {
        Bundle bundle{.name = std::string(reader.next()), .entries = {}};
        reader.get(bundle.entries);
        settings.bundles.push_back(std::move(bundle));
    }
    return settings;
}

std::string encode_settings(const EngineSettings& rules, const std::vector<uint16_t>& passed_types) {
    base::FieldWriter writer;
    writer.add(kVersion);
    write_settings(writer, rules);
    writer.add(passed_types.size());
    for (uint16_t type : passed_types) writer.add(type);
    return writer.take();
}

base::Result<LiveSettings> decode_settings(std::string_view text) {
    base::FieldReader reader(text);
    if (reader.next() != kVersion) return base::Error{.what = "the rules are of another version"};
    LiveSettings settings{.rules = read_settings(reader), .passed_types = {}};
    settings.passed_types.resize(reader.get_count());
    for (uint16_t& type : settings.passed_types) reader.get(type);
    if (!reader.is_complete()) return base::Error{.what = "the rules are damaged"};
    return settings;
}

}  // namespace network
