// SPDX-License-Identifier: MIT
// The value of a credential: it must not be found in the jail, in what the jail's processes hold, or in what
// the session stores; and its source must not be changed. The value is not a part of the world that the
// probes get. Each probe computes it in its own process, so that other processes of the jail do not contain
// it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/text.h"
#include "selftest/planted/fake_host.h"
#include "selftest/planted/planted.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

constexpr size_t kPiece = 1u << 20;
constexpr size_t kMostOfProcess = 256u << 20;

Finding found_value(const std::string& place) {
    return escaped("the value is in " + place);
}

// Searches a file or a process's memory piece by piece.
bool holds(int fd, std::string_view needle, off_t from, size_t most) {
    std::string text;
    std::vector<char> bytes(kPiece);
    for (size_t done = 0; done < most;) {
        ssize_t got =
            ::pread(fd, bytes.data(), std::min(kPiece, most - done), from + static_cast<off_t>(done));
        if (got <= 0) return false;
        text.append(bytes.data(), static_cast<size_t>(got));
        if (text.find(needle) != text.npos) return true;
        text.erase(0, text.size() - std::min(text.size(), needle.size()));
        done += static_cast<size_t>(got);
    }
    return false;
}

bool file_holds(const std::string& path, std::string_view needle) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    return fd && holds(fd.get(), needle, 0, kMostOfProcess);
}

// Every readable regular file below these directories.
Finding search_trees(const std::vector<std::string>& places, std::string_view needle) {
    size_t files = 0;
    for (const std::string& place : places) {
        std::error_code error;
        constexpr auto kOptions = std::filesystem::directory_options::skip_permission_denied;
        for (std::filesystem::recursive_directory_iterator at(place, kOptions, error), end;
             !error && at != end; at.increment(error)) {
            std::error_code ignored;
            if (!at->is_regular_file(ignored) || at->is_symlink(ignored)) continue;
            ++files;
            if (file_holds(at->path().string(), needle)) return found_value(at->path().string());
        }
    }
    return held(base::format("not in {} files", files));
}

// Processes other than this one, which contains what it searches for.
std::vector<std::string> other_processes(const World& world) {
    // Outside, processes of other programs are not searched.
    if (!world.is_inside) return {std::to_string(world.process)};
    std::vector<std::string> numbers;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        std::string name = entry.path().filename().string();
        std::optional<int64_t> number = base::parse_number<int64_t>(name);
        if (number && *number != ::getpid()) numbers.push_back(std::move(name));
    }
    return numbers;
}

Finding search_variable(const World& world) {
    const char* text = std::getenv(std::string(kCredentialVariable).c_str());
    if (text == nullptr) return {Finding::Kind::broken, "the variable is missing"};
    return text == credential_value(world) ? escaped("it is in the variable") : held("it is a placeholder");
}

// "environ", "cmdline"
Finding search_process_files(const World& world, const char* name) {
    const std::string value = credential_value(world);
    size_t read = 0;
    for (const std::string& process : other_processes(world)) {
        std::string text = content_of(base::format("/proc/{}/{}", process, name));
        if (text.find(value) != text.npos) return found_value("process " + process);
        read += !text.empty();
    }
    return held(base::format("not in {} processes", read));
}

Finding search_memory(const World& world) {
    const std::string value = credential_value(world);
    int error = ENOENT;
    size_t read = 0;
    for (const std::string& process : other_processes(world)) {
        base::Fd memory(::open(base::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC));
        std::string maps = content_of(base::format("/proc/{}/maps", process));
        if (!memory || maps.empty()) {
            error = errno;
            continue;
        }
        ++read;
        for (std::string_view line : base::split(maps, '\n')) {
            size_t dash = line.find('-'), blank = line.find(' ');
            if (dash == line.npos || blank == line.npos || line.substr(blank + 1, 1) != "r") continue;
            auto start =
                static_cast<off_t>(std::strtoull(std::string(line.substr(0, dash)).c_str(), nullptr, 16));
            auto end = static_cast<off_t>(
                std::strtoull(std::string(line.substr(dash + 1, blank - dash - 1)).c_str(), nullptr, 16));
            if (start < 0 || end <= start) continue;
            if (holds(memory.get(), value, start, std::min(static_cast<size_t>(end - start), kMostOfProcess)))
                return found_value("the memory of process " + process);
        }
    }
    return read == 0 ? held(error) : held(base::format("not in {} processes", read));
}

// The supervisor passes a value to the gateway as an open memory file.
Finding search_descriptors(const World& world) {
    const std::string value = credential_value(world);
    base::Fd leaked;
    if (!world.is_inside) {
        leaked = base::Fd(::memfd_create("planted", MFD_CLOEXEC));
        if (!leaked || !base::write_all(leaked.get(), value))
            return {Finding::Kind::broken, "no memory file"};
    }
    std::vector<std::string> processes = other_processes(world);
    processes.push_back(std::to_string(::getpid()));
    for (const std::string& process : processes) {
        std::error_code error;
        std::filesystem::directory_iterator entries(base::format("/proc/{}/fd", process), error);
        for (const std::filesystem::directory_entry& entry : entries) {
            std::error_code ignored;
            bool is_file = std::filesystem::is_regular_file(entry.path(), ignored);
            if (is_file && file_holds(entry.path().string(), value)) return found_value("an open file");
        }
    }
    return held("no open file has it");
}

Finding read_value(const World& world, const std::string& path) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return held(errno);
    return holds(fd.get(), credential_value(world), 0, kPiece) ? escaped("it was read")
                                                               : held("the value is not in it");
}

Finding read_source_by_link(const World& world) {
    const std::string link = world.project + "/link-to-source";
    if (::symlink(world.source.c_str(), link.c_str()) != 0) return held(errno);
    Finding finding = read_value(world, link);
    ::unlink(link.c_str());
    return finding;
}

Finding search_keys(const World& world) {
    // In two parts, because this program is searched too. A key in PEM begins with M.
    const std::string key = std::string("PRIVATE KEY-----") + "\nM";
    std::vector<std::string> places = {world.root};
    if (world.is_inside) places = {base::own_directory(), "/run", "/tmp"};
    return search_trees(places, key);
}

std::string stored(const World& world) {
    return world.home + std::string(kCredentialStore);
}

// Outside, a careless session would have written the value.
Finding leave_record(const World& world) {
    if (world.is_inside) return held("the requests of the other probes are recorded");
    return base::write_file_atomically(stored(world) + "/careless", credential_value(world))
               ? escaped("written")
               : Finding{Finding::Kind::broken, "it can't be written"};
}

// The store itself is not searched: it is the user's own.
Finding search_record(const World& world) {
    std::vector<std::string> places;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(stored(world), error)) {
        if (entry.path().filename() != "secrets") places.push_back(entry.path().string());
    }
    const std::string value = credential_value(world);
    for (const std::string& place : places) {
        if (file_holds(place, value)) return found_value(place);
    }
    return search_trees(places, value);
}

}  // namespace

void add_credential_values(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt) -> Probe& {
        probes.push_back({.name = "credentials/" + name,
                          .what = what,
                          .attempt = std::move(attempt),
                          .scenario = Scenario::credentials,
                          .seconds = 20,
                          .is_on_request = true});
        return probes.back();
    };
    add("variable", "finds the value in the credential's variable", search_variable);
    add("environments", "finds the value in the environment of a process",
        [](const World& world) { return search_process_files(world, "environ"); });
    add("memory", "finds the value in the memory of a process", search_memory);
    add("descriptors", "finds the value in an open file of a process", search_descriptors);
    add("source", "reads the file that the value comes from",
        [](const World& world) { return read_value(world, world.source); });
    add("source-link", "reads the source through a link in the project", read_source_by_link);
    add("store", "reads the program's own store",
        [](const World& world) { return read_value(world, stored(world) + "/secrets/selftest"); });
    add("own-files", "finds the value in the sandbox's own files", [](const World& world) {
        return search_trees({world.is_inside ? base::own_directory() : world.root}, credential_value(world));
    });
    add("temporary-files", "finds the value in temporary files and in the home directory",
        [](const World& world) {
            std::vector<std::string> places = {world.home};
            if (world.is_inside) places = {world.home, world.project, "/tmp", "/var/tmp", "/dev/shm"};
            return search_trees(places, credential_value(world));
        });
    add("record", "finds the value in what the session stores", leave_record).afterwards = search_record;
    add("authority-key", "finds the key of the session's certificates", search_keys);
    add("source-write", "opens the source for writing",
        [](const World& world) { return open_for_writing(world.source); });
    add("source-rename", "puts another file in the place of the source",
        [](const World& world) { return rename_away(world.source, world.source + ".old"); });
    add("settings-write", "changes the settings of the credential",
        [](const World& world) { return append_to(world.home + std::string(kCredentialSettings)); });
}

}  // namespace selftest
