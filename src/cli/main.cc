// SPDX-License-Identifier: MIT
// One executable plays every part; its first word says which.
#include "cli/program.h"
#include "inner/stage.h"
#include "selftest/role.h"

int main(int argc, char** argv) {
    if (argc > 1 && argv[1] == inner::kRole) return inner::run_stage(argc, argv);
    if (argc > 1 && argv[1] == selftest::kRole) return selftest::run_part(argc, argv);
    return cli::main_program(argc, argv);
}
