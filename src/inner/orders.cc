// SPDX-License-Identifier: MIT
#include "inner/orders.h"

#include <charconv>
#include <concepts>

namespace inner {
namespace {

// Changes with every change of the fields: the two ends are the same program, and must know when they are
// not.
constexpr std::string_view kVersion = "agent-sandbox orders 4";

class Writer {
  public:
    void add(std::string_view text) {
        text_ += text;
        text_ += '\0';
    }
    void add(std::integral auto number) { add(std::string_view(std::to_string(number))); }
    void add(const std::vector<std::string>& list) {
        add(list.size());
        for (const std::string& entry : list) add(std::string_view(entry));
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

// Remembers a failure instead of returning it, so that reading stays one line a field.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_(text) {}

    void get(std::string& field) { field = next(); }
    void get(std::integral auto& number) {
        std::string_view field = next();
        auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
        if (error != std::errc() || end != field.data() + field.size()) is_good_ = false;
    }
    void get(bool& truth) {
        std::string_view field = next();
        if (field != "0" && field != "1") is_good_ = false;
        truth = field == "1";
    }
    void get(std::vector<std::string>& list) {
        list.resize(get_count());
        for (std::string& entry : list) get(entry);
    }
    // A count is never larger than what is left, so that a damaged one can't ask for all memory.
    size_t get_count() {
        size_t count = 0;
        get(count);
        if (count > rest_.size()) is_good_ = false;
        return is_good_ ? count : 0;
    }
    std::string_view next() {
        size_t end = rest_.find('\0');
        if (end == std::string_view::npos) {
            is_good_ = false;
            return {};
        }
        std::string_view field = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return field;
    }
    void reject() { is_good_ = false; }
    bool is_complete() const { return is_good_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool is_good_ = true;
};

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
    reader.get(orders.control);
    reader.get(orders.terminal);
    reader.get(orders.takes_terminal);
    reader.get(orders.awaits_word);
    if (!reader.is_complete() || orders.command.empty()) return base::Error{.what = "the orders are damaged"};
    return orders;
}

}  // namespace inner
