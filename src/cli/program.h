// SPDX-License-Identifier: MIT
// The program that people call: words in, exit code out.
#pragma once

namespace cli {

int main_program(int argc, char** argv);

}  // namespace cli
