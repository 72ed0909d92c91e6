// SPDX-License-Identifier: MIT
// Short functions for the rows of the option tables. Only the tables include this file.
#pragma once

#include "slurm/options/denial.h"
#include "slurm/options/option.h"

namespace slurm::rows {

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
inline constexpr std::string_view kEveryRecord =
    "whole records would be printed, whatever is selected; choose columns with a format instead";

}  // namespace slurm::rows
