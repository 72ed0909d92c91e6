// SPDX-License-Identifier: MIT
// The real commands, executed through a descriptor. Threat: a command that the jail can replace would run
// outside of it. So each is opened before any code of the jail runs, and a later file under the same name has
// no effect. If only root can change the directory, which is the usual case, only the directory is opened: a
// session may never need any of its commands. (tests/slurm_chaperon/clients_test.cc)
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

    // The descriptor of the command's program, which this call opens if needed. -1: there is no such command.
    int descriptor_of(std::string_view name) const;
    // The descriptors of all programs and directories. -1 for a program that is not open yet.
    std::vector<int> descriptors() const;

  private:
    struct Client {
        base::Fd file;
        int directory = -1;  // the program is opened there when it is needed
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
