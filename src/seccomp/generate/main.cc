// SPDX-License-Identifier: MIT
// Writes the definitions behind seccomp/filter.h: the programs for each architecture; the preprocessor
// chooses by the target architecture.
#include <cstdio>
#include <set>

#include "seccomp/generate/compile.h"

namespace {

const char* condition(seccomp::Architecture architecture) {
    switch (architecture) {
        case seccomp::Architecture::x86_64:
            return "defined(__x86_64__)";
        case seccomp::Architecture::aarch64:
            return "defined(__aarch64__)";
    }
    return "0";
}

bool write_programs(std::FILE* out, seccomp::Architecture architecture) {
    std::fprintf(out, "#if %s\n", condition(architecture));
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index) {
        auto program = seccomp::compile(architecture, seccomp::Switches::from_index(index));
        if (!program) {
            std::fprintf(stderr, "%s\n", program.error().line().c_str());
            return false;
        }
        std::fprintf(out, "constexpr uint64_t kProgram%u[] = {", index);
        for (size_t i = 0; i < program->size(); ++i) {
            std::fprintf(out, "%s0x%llx,", i % 6 ? " " : "\n    ",
                         static_cast<unsigned long long>((*program)[i]));
        }
        std::fprintf(out, "\n};\n");
    }
    std::fprintf(out, "constexpr NumberedCall kCalls[] = {\n");
    std::set<std::string_view> written;
    for (const seccomp::Row& row : seccomp::rows()) {
        std::optional<int> number = seccomp::number_of(architecture, row);
        if (!number || !written.insert(row.name).second) continue;
        std::fprintf(out, "    {\"%s\", %d},\n", std::string(row.name).c_str(), *number);
    }
    std::fprintf(out, "};\n#endif\n\n");
    return true;
}

void write_names(std::FILE* out) {
    std::fprintf(out, "constexpr std::string_view kNames[] = {\n");
    for (const std::string& name : seccomp::collect_names()) std::fprintf(out, "    \"%s\",\n", name.c_str());
    std::fprintf(out, "};\n\n");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    std::FILE* out = std::fopen(argv[1], "we");
    if (out == nullptr) {
        std::perror(argv[1]);
        return 1;
    }
    std::fprintf(out,
                 "// Made by seccomp/generate from seccomp/table.cc.\n#include "
                 "\"seccomp/filter.h\"\n\nnamespace seccomp {\nnamespace {\n\n");
    for (seccomp::Architecture architecture : seccomp::kArchitectures) {
        if (!write_programs(out, architecture)) return 1;
    }
    write_names(out);
    std::fprintf(out, "constexpr std::span<const uint64_t> kPrograms[] = {\n");
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index)
        std::fprintf(out, "    kProgram%u,\n", index);
    std::fprintf(
        out,
        "};\n\n}  // namespace\n\nstd::span<const sock_filter> filter_for(const Switches& switches) {\n"
        "    std::span<const uint64_t> program = kPrograms[switches.index()];\n"
        "    return {reinterpret_cast<const sock_filter*>(program.data()), program.size()};\n}\n\n"
        "std::span<const NumberedCall> numbered_calls() { return kCalls; }\n\n"
        "std::span<const std::string_view> known_names() { return kNames; }\n\n}  // namespace seccomp\n");
    return std::fclose(out) == 0 ? 0 : 1;
}
