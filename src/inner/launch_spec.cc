// SPDX-License-Identifier: MIT
#include "inner/launch_spec.h"

#include "base/encoding/fields.h"

namespace inner {
namespace {

// Must change with every change of the fields: both ends should be the same program, and must detect it if
// they are not.
constexpr std::string_view kVersion = "agent-sandbox orders 12";

using Writer = base::FieldWriter;
using Reader = base::FieldReader;

void add_check(Writer& writer, const Check& check) {
    writer.add(std::string_view(check.target));
    writer.add(int{check.is_readonly});
    writer.add(int{check.has_identity});
    writer.add(int{check.is_other});
    writer.add(check.device);
    writer.add(check.inode);
    writer.add(check.type);
}

void get_check(Reader& reader, Check& check) {
    reader.get(check.target);
    reader.get(check.is_readonly);
    reader.get(check.has_identity);
    reader.get(check.is_other);
    reader.get(check.device);
    reader.get(check.inode);
    reader.get(check.type);
}

seccomp::Switches get_switches(Reader& reader) {
    unsigned index = 0;
    reader.get(index);
    if (index >= seccomp::kProgramCount) reader.reject();
    return seccomp::Switches::from_index(index);
}

void add_wall(Writer& writer, const landlock::Wall& wall) {
    writer.add(int{wall.is_wanted});
    writer.add(int{wall.guards_files});
    writer.add(wall.writable);
    writer.add(wall.used);
    writer.add(int{wall.guards_reading});
    writer.add(wall.readable);
    writer.add(int{wall.refuses_tcp});
    writer.add(int{wall.is_logged});
}

void get_wall(Reader& reader, landlock::Wall& wall) {
    reader.get(wall.is_wanted);
    reader.get(wall.guards_files);
    reader.get(wall.writable);
    reader.get(wall.used);
    reader.get(wall.guards_reading);
    reader.get(wall.readable);
    reader.get(wall.refuses_tcp);
    reader.get(wall.is_logged);
}

void add_doorman(Writer& writer, const doorman::Orders& orders) {
    writer.add(int{orders.is_wanted});
    writer.add(int{orders.is_outside});
    writer.add(int{orders.is_answered});
    writer.add(int{orders.refuses_system_v});
    writer.add(static_cast<int>(orders.internet));
    writer.add(int{orders.owns_loopback});
    writer.add(orders.gateway);
    writer.add(int{orders.guards_sockets});
    writer.add(orders.sockets);
    writer.add(static_cast<int>(orders.abstract_names));
    writer.add(int{orders.guards_terminal_size});
    writer.add(int{orders.guards_attributes});
    writer.add(orders.changeable);
    writer.add(int{orders.guards_truncation});
    writer.add(int{orders.guards_processes});
    writer.add(int{orders.guards_signals});
}

void get_doorman(Reader& reader, doorman::Orders& orders) {
    int internet = 0, names = 0;
    reader.get(orders.is_wanted);
    reader.get(orders.is_outside);
    reader.get(orders.is_answered);
    reader.get(orders.refuses_system_v);
    reader.get(internet);
    if (internet < 0 || internet > static_cast<int>(doorman::Internet::handed)) reader.reject();
    orders.internet = static_cast<doorman::Internet>(internet);
    reader.get(orders.owns_loopback);
    reader.get(orders.gateway);
    reader.get(orders.guards_sockets);
    reader.get(orders.sockets);
    reader.get(names);
    if (names < 0 || names > static_cast<int>(doorman::AbstractNames::refused)) reader.reject();
    orders.abstract_names = static_cast<doorman::AbstractNames>(names);
    reader.get(orders.guards_terminal_size);
    reader.get(orders.guards_attributes);
    reader.get(orders.changeable);
    reader.get(orders.guards_truncation);
    reader.get(orders.guards_processes);
    reader.get(orders.guards_signals);
}

}  // namespace

std::string encode(const Orders& orders) {
    Writer writer;
    writer.add(kVersion);
    writer.add(orders.command);
    writer.add(orders.environment);
    writer.add(std::string_view(orders.working_directory));
    writer.add(orders.world_writable);
    writer.add(orders.checks.size());
    for (const Check& check : orders.checks) add_check(writer, check);
    writer.add(orders.laid.size());
    for (const Laid& laid : orders.laid) {
        writer.add(std::string_view(laid.path));
        writer.add(std::string_view(laid.content));
        writer.add(int{laid.is_link});
    }
    writer.add(orders.system_calls.index());
    writer.add(int{orders.trace.files});
    writer.add(int{orders.trace.commands});
    writer.add(int{orders.trace.system_calls});
    add_wall(writer, orders.wall);
    writer.add(int{orders.has_namespaces});
    add_doorman(writer, orders.doorman);
    writer.add(orders.signals.ignored);
    writer.add(orders.signals.blocked);
    writer.add(orders.open_files);
    writer.add(orders.limits.size());
    for (const ResourceLimit& limit : orders.limits) {
        writer.add(limit.resource);
        writer.add(limit.value);
    }
    writer.add(orders.standard_error);
    writer.add(orders.kept_descriptors.size());
    for (int descriptor : orders.kept_descriptors) writer.add(descriptor);
    writer.add(orders.skipped_processes);
    writer.add(orders.control);
    writer.add(orders.terminal);
    writer.add(int{orders.takes_terminal});
    writer.add(int{orders.ends_others});
    return writer.take();
}

base::Result<Orders> decode(std::string_view text) {
    Reader reader(text);
    if (reader.next() != kVersion) return base::Error{.what = "the orders are of another version"};
    Orders orders;
    reader.get(orders.command);
    reader.get(orders.environment);
    reader.get(orders.working_directory);
    reader.get(orders.world_writable);
    orders.checks.resize(reader.get_count());
    for (Check& check : orders.checks) get_check(reader, check);
    orders.laid.resize(reader.get_count());
    for (Laid& laid : orders.laid) {
        reader.get(laid.path);
        reader.get(laid.content);
        reader.get(laid.is_link);
    }
    orders.system_calls = get_switches(reader);
    reader.get(orders.trace.files);
    reader.get(orders.trace.commands);
    reader.get(orders.trace.system_calls);
    get_wall(reader, orders.wall);
    reader.get(orders.has_namespaces);
    get_doorman(reader, orders.doorman);
    reader.get(orders.signals.ignored);
    reader.get(orders.signals.blocked);
    reader.get(orders.open_files);
    orders.limits.resize(reader.get_count());
    for (ResourceLimit& limit : orders.limits) {
        reader.get(limit.resource);
        reader.get(limit.value);
    }
    reader.get(orders.standard_error);
    orders.kept_descriptors.resize(reader.get_count());
    for (int& descriptor : orders.kept_descriptors) reader.get(descriptor);
    reader.get(orders.skipped_processes);
    reader.get(orders.control);
    reader.get(orders.terminal);
    reader.get(orders.takes_terminal);
    reader.get(orders.ends_others);
    if (!reader.is_complete() || orders.command.empty()) return base::Error{.what = "the orders are damaged"};
    return orders;
}

}  // namespace inner
