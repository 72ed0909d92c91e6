// SPDX-License-Identifier: MIT
#include "base/process/own_arguments.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace base {
namespace {

struct Area {
    char* begin = nullptr;
    size_t size = 0;
};

Area& arguments() {
    static Area area;
    return area;
}

}  // namespace

void remember_arguments(int argc, char** argv) {
    if (argc < 1) return;
    // The kernel stores them contiguously.
    char* last = argv[argc - 1];
    arguments() = {argv[0], static_cast<size_t>(last + std::strlen(last) + 1 - argv[0])};
}

void replace_arguments(std::string_view title) {
    Area area = arguments();
    if (area.size == 0) return;
    std::memset(area.begin, 0, area.size);
    std::memcpy(area.begin, title.data(), std::min(title.size(), area.size - 1));
}

void forget_environment() {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        std::memset(*variable, 0, std::strlen(*variable));
    }
    ::clearenv();
}

}  // namespace base
