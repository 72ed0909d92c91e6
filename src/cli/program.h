// SPDX-License-Identifier: MIT
// The program for users: takes arguments, returns an exit code.
#pragma once

namespace cli {

int main_program(int argc, char** argv);

}  // namespace cli
