// SPDX-License-Identifier: MIT
#include "session/helpers/socket_owner.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace session {
namespace {

constexpr size_t kLargestTable = 16u << 20;
constexpr size_t kLongestProgramName = 32;

std::string link_at(const std::string& path) {
    char text[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    return length <= 0 ? std::string() : std::string(text, static_cast<size_t>(length));
}

// What the link of an open socket with this local port reads: "socket:[4711]". Each line of the table is
// "0: ADDRESS:PORT ADDRESS:PORT STATE QUEUES TIMER RETRANSMIT UID TIMEOUT INODE …". Sockets that no process
// has any more have inode 0.
std::string socket_with_port(const std::string& table, uint16_t port) {
    base::Result<std::string> text = base::read_file(table, kLargestTable);
    if (!text) return {};
    constexpr size_t kAddress = 1, kInode = 9;
    for (std::string_view line : base::split(*text, '\n')) {
        std::vector<std::string_view> fields;
        for (std::string_view field : base::split(line, ' ')) {
            if (!field.empty()) fields.push_back(field);
        }
        if (fields.size() <= kInode || fields[kInode] == "0") continue;
        const std::string_view address = fields[kAddress];
        const size_t colon = address.rfind(':');
        if (colon == address.npos) continue;
        const std::string digits(address.substr(colon + 1));
        if (std::strtoul(digits.c_str(), nullptr, 16) == port)
            return base::format("socket:[{}]", fields[kInode]);
    }
    return {};
}

bool has_open(const std::string& place, const std::string& socket, size_t& left) {
    const std::string directory = place + "/fd";
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr) return false;
    bool is_found = false;
    while (const struct dirent* entry = ::readdir(stream)) {
        if (entry->d_name[0] == '.') continue;
        if (left == 0) break;
        --left;
        is_found = link_at(directory + "/" + entry->d_name) == socket;
        if (is_found) break;
    }
    ::closedir(stream);
    return is_found;
}

// Threat: a program whose name is advice, such as "x: to mend it, run y", speaks to the user in our line
// (tests/session/socket_owner_test.cc).
std::string plain(std::string_view name) {
    std::string text(name.substr(0, kLongestProgramName));
    for (char& letter : text) {
        bool is_plain =
            base::is_name_character(letter) || std::string_view(".+-").find(letter) != std::string_view::npos;
        if (!is_plain) letter = '?';
    }
    return text;
}

std::string name_of(const std::string& place) {
    const std::string link = link_at(place + "/exe");
    const std::string program = plain(std::string_view(link).substr(link.rfind('/') + 1));
    base::Result<std::string> said = base::read_file(place + "/comm");
    const std::string name = plain(said ? base::trim(*said) : std::string_view());
    if (program.empty() || name.empty()) return program + name;
    // An interpreter is not the program that the user knows.
    return program.starts_with(name) ? program : base::format("{} '{}'", program, name);
}

}  // namespace

std::string program_with_port(const std::vector<std::string>& places, uint16_t port) {
    if (places.empty()) return {};
    size_t left = kMostOpenFiles;
    for (const char* table : {"/net/tcp", "/net/tcp6"}) {
        const std::string socket = socket_with_port(places.front() + table, port);
        if (socket.empty()) continue;
        for (const std::string& place : places) {
            if (!has_open(place, socket, left)) continue;
            return base::format("{} (process {})", name_of(place), place.substr(place.rfind('/') + 1));
        }
    }
    return {};
}

}  // namespace session
