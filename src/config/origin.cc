// SPDX-License-Identifier: MIT
#include "config/origin.h"

#include "base/format.h"

namespace config {

std::string_view layer_name(Layer layer) {
    switch (layer) {
        case Layer::builtin:
            return "built-in";
        case Layer::admin:
            return "administrator";
        case Layer::profile:
            return "agent profile";
        case Layer::user:
            return "user";
        case Layer::project:
            return "project";
        case Layer::preset:
            return "preset";
        case Layer::environment:
            return "environment";
        case Layer::command_line:
            return "command line";
    }
    return "";
}

std::string Origin::describe() const {
    if (!file.empty()) return line > 0 ? base::format("{}:{}", file, line) : file;
    if (!name.empty()) return name;
    return std::string(layer_name(layer));
}

}  // namespace config
