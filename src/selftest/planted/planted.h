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
#include "selftest/planted/world.h"

namespace selftest {

inline constexpr std::string_view kPrivateKey = ".ssh/id_ed25519";
inline constexpr std::string_view kHiddenProgram = "tools/hidden";
inline constexpr std::string_view kPlantedLink = "planted-link";

struct PlantedFile {
    std::string_view name;  // part of the names of probes
    std::string_view path;
};

// Files with the secret that every mode of the home directory hides.
std::span<const PlantedFile> credentials();

// All entries of the project before any attempt, with directories, relative to the project.
std::vector<std::string> project_entries();

class Planted {
  public:
    // Makes the scratch directory in `parent`, which must exist. The home directory is inside it, or it is
    // `home`, which was made for a test: existing files there are not changed, and the planted ones are
    // removed.
    static base::Result<Planted> make(const std::string& parent, const std::string& home = {});

    Planted(Planted&& other) noexcept;
    Planted& operator=(Planted&&) = delete;
    ~Planted();

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
    std::vector<std::string> in_home_;        // planted in a home that must not be removed
    base::Fd master_, terminal_;              // the probes' own terminal
    base::Fd other_master_, other_terminal_;  // a terminal that is not the probes'
    Neighbour neighbour_;
};

}  // namespace selftest
