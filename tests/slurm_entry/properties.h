// SPDX-License-Identifier: MIT
// Properties of any bytes that a rank of MPI sends to Slurm's process manager. Returns the claim that these
// bytes break, or null.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "slurm/entry/rank_channel.h"

namespace slurm {

// Checks the bytes that the manager would read: one greeting, then a line at a time, or consecutive frames.
inline const char* broken_for_manager(std::string_view said, bool& is_greeted, bool in_frames) {
    while (!said.empty()) {
        if (!is_greeted) {
            is_greeted = true;
            bool is_line = said.starts_with("cmd=init pmi_version=") && said.find('\n') == said.size() - 1;
            return is_line ? nullptr : "a greeting is one line";
        }
        std::string_view request = in_frames ? said.substr(std::min<size_t>(6, said.size())) : said;
        if (!request.starts_with("cmd=") || request.starts_with("cmd=spawn"))
            return "only what a rank may ask goes on";
        if (!in_frames) return said.find('\n') == said.size() - 1 ? nullptr : "one line at a time goes on";
        size_t length = 6 + std::stoul(std::string(said.substr(0, 6)));
        if (length > said.size()) return "a frame is as long as it says";
        said.remove_prefix(length);
    }
    return nullptr;
}

// The first byte selects the manager's protocol version and the size of the rank's pieces; the rank sends
// the rest.
inline const char* broken_for_ranks(std::string_view bytes) {
    if (bytes.empty()) return nullptr;
    unsigned first = static_cast<unsigned char>(bytes.front());
    bool in_frames = (first & 1) != 0, is_greeted = false;
    size_t piece = 1 + first / 2;
    bytes.remove_prefix(1);
    RankRequests requests;
    while (!bytes.empty()) {
        bool goes_on = requests.take(bytes.substr(0, piece));
        bytes.remove_prefix(std::min(piece, bytes.size()));
        for (std::string said = requests.next(); !said.empty(); said = requests.next()) {
            if (const char* broken = broken_for_manager(said, is_greeted, in_frames)) return broken;
            if (!goes_on) break;
            goes_on =
                requests.answered(in_frames ? "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"
                                            : "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n");
        }
        if (!goes_on) return nullptr;
    }
    return nullptr;
}

}  // namespace slurm
