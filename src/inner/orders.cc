// SPDX-License-Identifier: MIT
#include "inner/orders.h"

#include "base/fields.h"

namespace inner {
namespace {

// Changes with every change of the fields: the two ends are the same program, and must know when they are
// not.
constexpr std::string_view kVersion = "agent-sandbox orders 6";

using Writer = base::FieldWriter;
using Reader = base::FieldReader;

void add_check(Writer& writer, const Check& check) {
    writer.add(std::string_view(check.target));
    writer.add(int{check.is_readonly});
    writer.add(int{check.has_identity});
    writer.add(check.device);
    writer.add(check.inode);
    writer.add(check.type);
}

void get_check(Reader& reader, Check& check) {
    reader.get(check.target);
    reader.get(check.is_readonly);
    reader.get(check.has_identity);
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
}

void get_wall(Reader& reader, landlock::Wall& wall) {
    reader.get(wall.is_wanted);
    reader.get(wall.guards_files);
    reader.get(wall.writable);
    reader.get(wall.used);
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
    writer.add(orders.system_calls.index());
    add_wall(writer, orders.wall);
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
    writer.add(int{orders.awaits_word});
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
    orders.system_calls = get_switches(reader);
    get_wall(reader, orders.wall);
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
    reader.get(orders.awaits_word);
    if (!reader.is_complete() || orders.command.empty()) return base::Error{.what = "the orders are damaged"};
    return orders;
}

}  // namespace inner
