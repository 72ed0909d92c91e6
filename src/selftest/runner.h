// SPDX-License-Identifier: MIT
// Runs probes, each in its own process with a time limit, and prints their findings, one line each.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "selftest/planted/world.h"

namespace selftest {

// Probes: an escape attempt as data, the building blocks of attempts, and the groups of attempts.

// An escape attempt as data and a small function. The same function runs outside the jail, where it must
// succeed (the control: otherwise a pass would prove nothing), and inside, where it must not.

// Settings that permit an attempt.
inline constexpr std::string_view kOpen = "network.mode=open";
inline constexpr std::string_view kNested = "isolation.allow_nested_namespaces=true";
// Why an attempt is left out.
inline constexpr std::string_view kNeedsRoot = "needs root";

struct Finding {
    enum class Kind {
        escaped,  // the act succeeded
        held,     // it was refused, or had no effect
        absent,   // this host has nothing to try it on
        broken,   // the probe itself failed: it crashed, hung or printed nothing
    };
    Kind kind = Kind::broken;
    std::string detail;

    bool operator==(const Finding&) const = default;
};

// The jail that a probe runs in: the standard one, or one that shows or permits more, so that a single
// protection is tested alone.
enum class Scenario {
    standard,
    home_read,
    home_write,
    read_only,
    held,
    inherit,
    open_network,
    nested,
    credentials
};

struct Change {
    std::string_view key;  // of a setting
    std::string_view value;
};
struct ScenarioRow {
    Scenario scenario;
    std::string_view name;
    std::vector<Change> changes;
};
std::span<const ScenarioRow> scenarios();
const ScenarioRow& row_of(Scenario scenario);

struct Probe {
    std::string name;  // "files/private-key"; the part before the slash is the group
    std::string what;  // the attempt: "reads …", no full stop
    std::function<Finding(const World&)> attempt;

    Scenario scenario = Scenario::standard;
    // Why a host may be unable to show that the act works outside; empty: every host can.
    std::string_view excuse = {};
    // "isolation.private_tmp=false": with this setting the act is permitted and not an escape.
    std::string_view permitted_by = {};
    // The planted file of the home directory that it needs, relative to it. Where the user has a file of that
    // name, it is not tried.
    std::string_view planted = {};
    // If set, only this decides: it checks from outside after the jail has ended.
    std::function<Finding(const World&)> afterwards = {};
    unsigned seconds = 2;  // the longest time that it may take
    // It needs a host and a credential of its own, and runs only if its group or its name is asked for.
    bool is_on_request = false;
    // Not tried in a jail whose connections are not decrypted.
    bool needs_interception = false;

    std::string_view group() const { return std::string_view(name).substr(0, name.find('/')); }
};

// All probes, in the order of the report.
const std::vector<Probe>& all_probes();
std::vector<std::string_view> group_names();

// The probes of these groups or with these names; without words all that run without being asked for. An
// unknown word is an error.
base::Result<std::vector<const Probe*>> select_probes(std::span<const std::string> words);

// The building blocks of probes: small acts that report their result. A reason is the kernel's error name
// (ENOENT, EROFS), so that the report shows what stopped an attempt.

using Attempt = std::function<Finding(const World&)>;

Finding escaped(std::string detail);
Finding held(std::string detail);
Finding held(int error);
Finding absent(std::string detail);
// After a system call that fails with -1: held with errno, else escaped.
Finding outcome(long result, std::string_view detail);

// "ENOENT"
std::string error_word(int error);

// Opens the file and looks for the secret.
Finding read_secret(const World& world, const std::string& path);
Finding read_secret_from(const World& world, int fd);
// Whether the name exists.
Finding see(const std::string& path);
// Appends to the file, then undoes it.
Finding append_to(const std::string& path);
// Creates a new file, with the directories that it needs, and removes them again.
Finding create(const std::string& path, std::string_view content = "planted\n");
// Opens for writing, but writes nothing.
Finding open_for_writing(const std::string& path);
// Renames and renames back.
Finding rename_away(const std::string& from, const std::string& to);
// Executes and waits; exit status 0 is an escape.
Finding execute(const std::vector<std::string>& words);
// Connects and looks for the greeting of the neighbour's services.
Finding connect_to(const World& world, int type, const struct sockaddr* address, socklen_t length);
Finding connect_to_unix(const World& world, const std::string& path);  // "@name": abstract

// The whole file; empty if it can't be read.
std::string content_of(const std::string& path);

// Runs `act` in a child process, for acts that change the process permanently.
Finding in_child(const std::function<Finding()>& act);

// The groups of probes, one file each.

using Probes = std::vector<Probe>;

void add_files(Probes& probes);                // reading hidden files
void add_places(Probes& probes);               // the system: missing paths and read-only paths
void add_environment(Probes& probes);          // secrets in variables
void add_processes(Probes& probes);            // processes outside, privileges inside
void add_ipc(Probes& probes);                  // shared memory, queues, sockets, keys
void add_terminal(Probes& probes);             // typing into the caller's terminal
void add_system_calls(Probes& probes);         // calls that the seccomp filter refuses
void add_namespaces(Probes& probes);           // new namespaces and changed mounts
void add_protection(Probes& probes);           // paths of the project that run code later
void add_persistence(Probes& probes);          // files and processes left after the jail
void add_network(Probes& probes);              // services of this host
void add_gateway(Probes& probes);              // requests that the gateway must refuse
void add_credential_values(Probes& probes);    // the value of a credential, wherever the jail could find it
void add_credential_requests(Probes& probes);  // what a placeholder is good for

struct Report {
    std::string probe;
    Finding finding;
};

// One line of JSON, and back. Only the form of a line from a jail is checked; its content is not trusted.
std::string encode(const Report& report);
base::Result<Report> decode(std::string_view line);

// The arguments for probes that run together: those of one scenario, among the requested ones. The controls
// have no jail and so no scenario.
std::vector<std::string> words_for(const World& world, std::string_view scenario,
                                   const std::vector<std::string>& asked);
inline constexpr std::string_view kEveryScenario = "every";

// The role `selftest-part probes WORLD SCENARIO WORD…`; it writes reports to standard output.
int run_probes(const std::vector<std::string>& words);

// Runs one probe in a child.
Finding run_probe(const Probe& probe, const World& world);

// The roles of the self-test that this program has in child processes: the probes, outside and inside, and
// the neighbour.

// The first argument that selects these roles; the second one names the role.
inline constexpr std::string_view kRole = "selftest-part";

int run_part(int argc, char** argv);

// Executes this program in a role, with this environment; exits if that fails.
[[noreturn]] void execute_part(const std::vector<std::string>& words,
                               const std::vector<std::string>& environment);

}  // namespace selftest
