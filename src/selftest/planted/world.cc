// SPDX-License-Identifier: MIT
#include "selftest/planted/world.h"

namespace selftest {
namespace {

struct TextField {
    std::string_view name;
    std::string World::*member;
};
constexpr TextField kTexts[] = {
    {"secret", &World::secret},
    {"root", &World::root},
    {"home", &World::home},
    {"project", &World::project},
    {"neighbour", &World::neighbour},
    {"namespaces", &World::namespaces},
    {"handle", &World::handle},
    {"home_socket", &World::home_socket},
    {"temporary_socket", &World::temporary_socket},
    {"abstract_socket", &World::abstract_socket},
    {"temporary_file", &World::temporary_file},
    {"shared_memory", &World::shared_memory},
    {"message_queue", &World::message_queue},
    {"terminal", &World::terminal},
    {"other_home", &World::other_home},
    {"address", &World::address},
};

struct NumberField {
    std::string_view name;
    int64_t World::*member;
};
constexpr NumberField kNumbers[] = {
    {"process", &World::process},
    {"guardian", &World::guardian},
    {"memory_id", &World::memory_id},
    {"semaphore_id", &World::semaphore_id},
    {"queue_id", &World::queue_id},
    {"ipc_key", &World::ipc_key},
    {"key", &World::key},
    {"tcp_port", &World::tcp_port},
    {"tcp6_port", &World::tcp6_port},
    {"udp_port", &World::udp_port},
    {"address_port", &World::address_port},
    {"is_inside", &World::is_inside},
};

}  // namespace

base::Json to_json(const World& world) {
    base::Json json = base::Json::object();
    for (const TextField& field : kTexts) json.set(std::string(field.name), world.*field.member);
    for (const NumberField& field : kNumbers) json.set(std::string(field.name), world.*field.member);
    return json;
}

base::Result<World> world_from_json(std::string_view text) {
    base::Result<base::Json> json = base::Json::parse(text);
    if (!json) return json.error();
    World world;
    for (const TextField& field : kTexts) world.*field.member = json->text(field.name);
    for (const NumberField& field : kNumbers) world.*field.member = json->number(field.name);
    if (world.secret.empty()) return base::Error{.what = "the description of the probes' world is damaged"};
    return world;
}

}  // namespace selftest
