// SPDX-License-Identifier: MIT
// --clusters. Threat: Slurm's own "all" would show and change jobs of other clusters, where ids are counted
// anew, so that a number in scope here is another job there. The real command gets the name of this cluster
// alone, which slurmctld gives. (tests/slurm/queries.bats: own cluster)
#include <algorithm>

#include "base/text.h"
#include "slurm/chaperon/conversation.h"

namespace slurm::chaperon {
namespace {

constexpr std::string_view kClusterName = "ClusterName";
constexpr std::string_view kEveryCluster = "all";

// "ClusterName             = testcluster"
std::string name_in(std::string_view configuration) {
    for (std::string_view line : base::split(configuration, '\n')) {
        size_t equals = line.find('=');
        if (equals == line.npos || base::trim(line.substr(0, equals)) != kClusterName) continue;
        return std::string(base::trim(line.substr(equals + 1)));
    }
    return {};
}

}  // namespace

std::variant<std::string, Denial> own_cluster(std::string_view option, std::string_view asked,
                                              Conversation& conversation) {
    base::Result<Captured> answer = conversation.capture("scontrol", {"--", "show", "config"});
    if (!answer) return Denial{std::string(code::unavailable), answer.error().what, answer.error().advice};
    std::string name = name_in(answer->output);
    if (name.empty()) {
        return Denial{std::string(code::unavailable),
                      base::format("--{}: the name of this cluster is not known", option), ""};
    }
    for (std::string_view part : base::split(asked, ',')) {
        if (part.empty() || part == name || part == kEveryCluster) continue;
        return Denial{std::string(code::other_cluster),
                      base::format("--{}={}: other clusters do not know this jail", option, part),
                      base::format("use {}, or all, which means this cluster alone", name)};
    }
    return name;
}

}  // namespace slurm::chaperon
