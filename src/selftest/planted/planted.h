// SPDX-License-Identifier: MIT
// Creates the world that the probes attack, with real secrets in a scratch directory, and removes all of it
// again. It does not read or change the user's own files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "selftest/attempts/neighbour.h"
#include "selftest/planted/fake_host.h"
#include "selftest/planted/world.h"
#include "selftest/runner.h"

namespace selftest {

// Secrets in variables: planted in the caller's environment; the probes search for them.

struct PlantedVariable {
    std::string_view probe;
    std::string_view name;
    std::string_view value;  // @ stands for the secret
    std::string_view what;
    Scenario scenario = Scenario::inherit;
};

std::span<const PlantedVariable> planted_variables();
std::string value_of(const PlantedVariable& variable, const World& world);

inline constexpr std::string_view kPrivateKey = ".ssh/id_ed25519";
inline constexpr std::string_view kHiddenProgram = "tools/hidden";
inline constexpr std::string_view kPlantedLink = "planted-link";
// In the home directory: settings of the credential, and what the program stores.
inline constexpr std::string_view kCredentialSettings = "/.config/agent-sandbox/conf.d/selftest.toml";
inline constexpr std::string_view kCredentialStore = "/.local/state/agent-sandbox";

// What a program inside must not change, where the settings and the state are at their usual places.
inline constexpr std::string_view kSandboxConfig = ".config/agent-sandbox/config.toml";
inline constexpr std::string_view kSandboxTrust = ".local/state/agent-sandbox/trust";

struct PlantedFile {
    std::string_view name;  // part of the names of probes
    std::string_view path;
};

// Files with the secret that every mode of the home directory hides.
std::span<const PlantedFile> credentials();

// All entries of the project before any attempt, with directories, relative to the project.
std::vector<std::string> project_entries();

// What a file means that is in the home directory already. An account that was made for a test has none. In
// another one, the file stays and is not planted, and the self-test has settings and a state of its own.
enum class Existing : bool { is_an_error, is_left_out };

class Planted {
  public:
    // Makes the scratch directory in `parent`, which must exist. The home directory is inside it, or it is
    // `home`: existing files there are not changed, and the planted ones are removed.
    static base::Result<Planted> make(const std::string& parent, const std::string& home = {},
                                      Existing existing = Existing::is_an_error);

    Planted(Planted&& other) noexcept;
    Planted& operator=(Planted&&) = delete;
    ~Planted();

    // A credential with its source, its settings and its host. For the probes that need them.
    base::Status plant_credential();
    // `has_rules`: another port of the host is read, too.
    std::vector<Change> credential_changes(bool has_rules) const;

    const World& world() const { return world_; }
    // The environment of a caller with secrets in variables.
    std::vector<std::string> environment() const;
    // The terminal that the probes get as standard input.
    int terminal() const { return terminal_.get(); }
    // Opens descriptors that a careless caller would leave open; for the child that starts the probes.
    void leave_descriptors_open() const;

  private:
    Planted() = default;
    base::Status plant();
    base::Status plant_files();
    base::Status open_terminals();

    base::Status write(const std::string& path, std::string_view content, unsigned mode = 0600);
    void unplant() const;

    World world_;
    Existing existing_ = Existing::is_an_error;
    std::vector<std::string> in_home_;        // planted in a home that must not be removed
    base::Fd master_, terminal_;              // the probes' own terminal
    base::Fd other_master_, other_terminal_;  // a terminal that is not the probes'
    Neighbour neighbour_;
    FakeHost host_;
    std::vector<std::string> host_services_;  // for credential_changes
    std::string other_rule_;
};

}  // namespace selftest
