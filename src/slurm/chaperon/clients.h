// SPDX-License-Identifier: MIT
// The real commands, executed through a descriptor. Threat: a command that the jail can replace would run
// outside of it. So one is opened before anything of the jail runs: what lies under the name later does not
// matter. In a directory that root alone can change, which is nearly always, opening the directory does, for
// all that it holds: a session may never ask for any. (tests/slurm_chaperon/clients_test.cc)
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/path.h"

namespace slurm::chaperon {

class Clients {
  public:
    void add(const std::string& name, const base::Path& file);
    void add(const std::string& name, base::Fd file);

    // Of the command's program, open from now on; -1 where there is none.
    int descriptor_of(std::string_view name) const;
    // All that are open.
    std::vector<int> descriptors() const;

  private:
    struct Client {
        base::Fd file;
        int directory = -1;  // that it is opened in when it is needed
        std::string file_name;
    };
    struct Directory {
        base::Fd fd;
        bool is_only_roots = false;
    };
    const Directory& directory_at(const base::Path& path);

    mutable std::map<std::string, Client, std::less<>> clients_;
    std::map<base::Path, Directory> directories_;
};

}  // namespace slurm::chaperon
