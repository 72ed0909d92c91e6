// SPDX-License-Identifier: MIT
#include "slurm/client/stub.h"
#include "slurm/options/option.h"

namespace slurm::client {

std::optional<std::string> stub_name(std::string_view executed, std::string_view first_word) {
    for (std::string_view word : {executed, first_word}) {
        std::string_view name = word.substr(word.rfind('/') + 1);
        if (find_command(name) || find_refused_command(name)) return std::string(name);
    }
    return std::nullopt;
}

}  // namespace slurm::client
