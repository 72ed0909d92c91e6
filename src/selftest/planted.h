// SPDX-License-Identifier: MIT
// Makes the world that the probes attack, with real secrets in a scratch directory, and takes every piece of
// it away again. Nothing of the user's own is read or changed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "selftest/neighbour.h"
#include "selftest/world.h"

namespace selftest {

inline constexpr std::string_view kPrivateKey = ".ssh/id_ed25519";
inline constexpr std::string_view kHiddenProgram = "tools/hidden";
inline constexpr std::string_view kPlantedLink = "planted-link";

struct PlantedFile {
    std::string_view name;  // in the names of probes
    std::string_view path;
};

// Files with the secret that every mode of the home directory hides.
std::span<const PlantedFile> credentials();

// All that lies in the project before anything is tried, directories included, relative to it.
std::vector<std::string> project_entries();

class Planted {
  public:
    // The scratch directory is made in `parent`, which must exist. The home directory is one in it, or
    // `home`, one that was made for a test: nothing that is there is touched, and what was planted is
    // removed.
    static base::Result<Planted> make(const std::string& parent, const std::string& home = {});

    Planted(Planted&& other) noexcept;
    Planted& operator=(Planted&&) = delete;
    ~Planted();

    const World& world() const { return world_; }
    // The environment of a caller who keeps secrets in it.
    std::vector<std::string> environment() const;
    // The terminal that the probes get as standard input.
    int terminal() const { return terminal_.get(); }
    // Opens what a careless caller leaves open; for the child that starts the probes.
    void leave_descriptors_open() const;

  private:
    Planted() = default;
    base::Status plant();
    base::Status plant_files();
    base::Status open_terminals();

    base::Status write(const std::string& path, std::string_view content, unsigned mode = 0600);
    void unplant() const;

    World world_;
    std::vector<std::string> in_home_;        // planted in a home that is not ours to remove
    base::Fd master_, terminal_;              // the probes' own terminal
    base::Fd other_master_, other_terminal_;  // somebody else's
    Neighbour neighbour_;
};

}  // namespace selftest
