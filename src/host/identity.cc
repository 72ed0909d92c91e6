// SPDX-License-Identifier: MIT
// The C library's account functions load name-service modules at run time, which a static program must not
// do. So this code reads the files itself. For users of a directory service it uses the caller's own
// variables, as far as they agree with the disk.
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "host/facts.h"

namespace host {
namespace {

constexpr size_t kLargestDatabase = 64u << 20;
constexpr size_t kLongestName = 256;

// The field of a line of passwd(5) or group(5), counted from 0; empty where the line is shorter. It allocates
// nothing, because every launch reads these files.
std::string_view field(std::string_view line, size_t index) {
    for (; index > 0; --index) {
        size_t colon = line.find(':');
        if (colon == std::string_view::npos) return {};
        line.remove_prefix(colon + 1);
    }
    return line.substr(0, line.find(':'));
}

struct Database {
    std::string_view text;
    std::ptrdiff_t colons;  // in a complete line
};

// name:password:uid:gid:comment:home:shell
constexpr size_t kName = 0, kUid = 2, kHome = 5, kShell = 6;
constexpr std::ptrdiff_t kPasswdColons = 6;
// name:password:gid:members
constexpr size_t kGid = 2;
constexpr std::ptrdiff_t kGroupColons = 3;

// The first complete line whose field has this text; empty where no line matches.
std::string_view find_line(const Database& database, size_t index, std::string_view text) {
    for (std::string_view rest = database.text; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        if (field(line, index) == text && std::ranges::count(line, ':') >= database.colons) return line;
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return {};
}

// Empty where the machine has no such file (a minimal container); then everything comes from the variables.
std::string read_database(const Tree& tree, std::string_view path) {
    base::Result<std::string> content = tree.read(base::Path::known(path), kLargestDatabase);
    return content ? *std::move(content) : std::string();
}

// A group without a name gets its number as name, as in ls(1).
std::string group_name(const Database& groups, uint32_t gid) {
    std::string number = std::to_string(gid);
    std::string_view line = find_line(groups, kGid, number);
    return line.empty() ? number : std::string(field(line, kName));
}

// The name becomes part of a line of the jail's passwd: it must not contain a character that ends a field or
// a line.
bool is_plain_name(std::string_view name) {
    bool has_plain_letters = std::ranges::all_of(
        name, [](char letter) { return letter > ' ' && letter != 0x7f && letter != ':' && letter != '/'; });
    return !name.empty() && name.size() <= kLongestName && name.front() != '-' && name.front() != '+' &&
           has_plain_letters;
}

// An absolute path to a directory that the caller owns.
std::optional<base::Path> own_directory(const Tree& tree, uint32_t uid, std::string_view text) {
    base::Result<base::Path> home = base::Path::parse(text);
    if (!home || home->is_root()) return std::nullopt;
    std::optional<Node> node = tree.look_through(*home);
    bool is_own = node && node->kind == Kind::directory && node->owner == uid;
    return is_own ? std::optional(*home) : std::nullopt;
}

std::string shell_of_variable(const Tree& tree, const Variables& environment) {
    base::Result<base::Path> shell = base::Path::parse(variable(environment, "SHELL").value_or(""));
    std::optional<Node> node = shell ? tree.look_through(*shell) : std::nullopt;
    return node && node->kind == Kind::file ? shell->str() : "/bin/sh";
}

// Rejects a name that the files give to another user.
std::string name_of_variables(const Database& passwd, const base::Path& home, const Variables& environment) {
    std::string_view candidates[] = {variable(environment, "USER").value_or(""),
                                     variable(environment, "LOGNAME").value_or(""), home.name()};
    for (std::string_view name : candidates) {
        if (is_plain_name(name) && find_line(passwd, kName, name).empty()) return std::string(name);
    }
    return {};
}

base::Error unknown_user(uint32_t uid, const Variables& environment) {
    std::string_view home = variable(environment, "HOME").value_or("");
    std::string found =
        home.empty() ? "HOME is not set" : base::format("HOME={} is not a directory of that user", home);
    return base::Error{
        .what = base::format("cannot tell who uid {} is: /etc/passwd does not say, and {}", uid, found),
        .advice = "set HOME to your home directory and USER to your name"};
}

}  // namespace

std::optional<std::string_view> variable(const Variables& environment, std::string_view name) {
    for (std::string_view entry : environment) {
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
            return entry.substr(name.size() + 1);
    }
    return std::nullopt;
}

base::Result<Identity> probe_identity(const Tree& tree, uint32_t uid, uint32_t gid,
                                      const Variables& environment) {
    std::string passwd = read_database(tree, "/etc/passwd");
    std::string groups = read_database(tree, "/etc/group");
    const Database accounts{passwd, kPasswdColons};

    Identity identity{.uid = uid, .gid = gid};
    identity.group = group_name({groups, kGroupColons}, gid);
    std::optional<base::Path> home = own_directory(tree, uid, variable(environment, "HOME").value_or(""));

    if (std::string_view account = find_line(accounts, kUid, std::to_string(uid)); !account.empty()) {
        base::Result<base::Path> listed = base::Path::parse(field(account, kHome));
        if (!home && !listed) return unknown_user(uid, environment);
        identity.user = field(account, kName);
        identity.shell = field(account, kShell).empty() ? "/bin/sh" : field(account, kShell);
        identity.home = home ? *home : *listed;
        return identity;
    }
    if (!home) return unknown_user(uid, environment);
    identity.home = *home;
    identity.user = name_of_variables(accounts, *home, environment);
    identity.shell = shell_of_variable(tree, environment);
    if (identity.user.empty()) return unknown_user(uid, environment);
    return identity;
}

std::optional<base::Path> account_home(const Tree& tree, uint32_t uid) {
    std::string passwd = read_database(tree, "/etc/passwd");
    std::string_view account = find_line({passwd, kPasswdColons}, kUid, std::to_string(uid));
    return account.empty() ? std::nullopt : own_directory(tree, uid, field(account, kHome));
}

base::Result<Identity> probe_identity(const Variables& environment) {
    return probe_identity(DiskTree(), ::getuid(), ::getgid(), environment);
}

}  // namespace host
