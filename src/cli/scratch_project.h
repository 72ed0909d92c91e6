// SPDX-License-Identifier: MIT
// An empty project for plans that depend on settings and not on the current directory: to check whether a run
// starts with a file, and for the jail that evaluates a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "cli/context.h"
#include "secrets/outside.h"

namespace cli {

// A directory in /tmp, removed at the end.
class ScratchProject {
  public:
    static base::Result<ScratchProject> make();
    ScratchProject(ScratchProject&& other) noexcept : path_(std::move(other.path_)) { other.path_ = {}; }
    ScratchProject(const ScratchProject&) = delete;
    ScratchProject& operator=(const ScratchProject&) = delete;
    ScratchProject& operator=(ScratchProject&&) = delete;
    ~ScratchProject();

    const base::Path& path() const { return path_; }

  private:
    explicit ScratchProject(base::Path path) : path_(std::move(path)) {}
    base::Path path_;
};

// Whether a run starts with these layers on this machine.
base::Status check_start(const Caller& caller, const Workspace& workspace, policy::Layers layers);

// Runs bash in its own jail, without a network and without a writable path, independent of the settings of
// this machine. `text` is in a file, whose name is the first argument of `script`.
struct BashRequest {
    std::string_view script;
    std::string_view text;
    std::vector<std::string> arguments;
};
base::Result<std::string> run_bash(const Caller& caller, const Workspace& workspace,
                                   const BashRequest& request);

// Makes the probe of a credential from a jail, through a real gateway: "200", or "403" with a reason.
// `surroundings` is for the source of the value.
base::Result<std::string> run_probe(const Caller& caller, const Workspace& workspace, policy::Layers layers,
                                    const credentials::Credential& credential,
                                    const secrets::Surroundings& surroundings);

}  // namespace cli
