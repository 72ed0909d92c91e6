// SPDX-License-Identifier: MIT
// The tables behind commands(): one file for commands that start jobs, one for queries.
#pragma once

#include <span>

#include "slurm/options/denial.h"
#include "slurm/options/option.h"

namespace slurm::rows {

// Short functions for the rows of the option tables. Only the tables include this file.

using enum Takes;

// The real client gets it unchanged.
constexpr Option pass(std::string_view name, char letter, Takes takes, Check check = Check::text) {
    return {.name = name, .letter = letter, .takes = takes, .action = OptionAction::pass, .check = check};
}

constexpr Option handled(std::string_view name, char letter, Takes takes, Check check,
                         std::string_view reason) {
    return {.name = name,
            .letter = letter,
            .takes = takes,
            .action = OptionAction::handled,
            .check = check,
            .reason = reason};
}

constexpr Option refuse(std::string_view name, char letter, Takes takes, std::string_view code,
                        std::string_view reason) {
    return {.name = name,
            .letter = letter,
            .takes = takes,
            .action = OptionAction::refuse,
            .check = Check::anything,
            .code = code,
            .reason = reason};
}

// An alias of an option. It takes the same values.
constexpr Option also(std::string_view name, std::string_view same_as, Takes takes) {
    return {.name = name, .takes = takes, .same_as = same_as};
}

// Prints information about the client and exits.
constexpr Option informs(std::string_view name, char letter) {
    return {.name = name, .letter = letter, .informs = true};
}

// Not in 22.05.
constexpr Option released(std::string_view release, Option option) {
    option.release = release;
    return option;
}

inline constexpr std::string_view kOtherCluster = "other clusters do not know this jail";
inline constexpr std::string_view kThisCluster =
    "this cluster's own name, or all, which means this cluster alone: other clusters do not know this jail";
inline constexpr std::string_view kChosenRecords = "only records that this session may see are printed";
inline constexpr std::string_view kEveryRecord =
    "whole records of all users would be printed; choose columns with a format, or use --json where it is "
    "accepted";

}  // namespace slurm::rows

namespace slurm::tables {

std::span<const Option> sbatch();
std::span<const Option> srun();
std::span<const Option> salloc();
std::span<const Option> squeue();
std::span<const Option> scancel();
std::span<const Option> scontrol();
std::span<const Option> sacct();
std::span<const Option> sacctmgr();
std::span<const Option> sinfo();
std::span<const Option> sstat();
std::span<const Option> sprio();
std::span<const Option> sshare();
std::span<const Option> sdiag();
std::span<const Option> sreport();

std::span<const Variable> sbatch_variables();
std::span<const Variable> srun_variables();
std::span<const Variable> salloc_variables();

}  // namespace slurm::tables
