// SPDX-License-Identifier: MIT
// make_files FOLDER COUNT [flat]: makes this many empty files below a folder, for bench/growth: a hundred in
// each directory and a hundred directories in each, or all in one.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
    if (argc < 3 || chdir(argv[1]) != 0) return 2;
    const long count = std::atol(argv[2]);
    const bool is_flat = argc > 3;
    std::string outer, inner;
    for (long number = 0; number < count; ++number) {
        if (!is_flat && number % 10000 == 0) {
            outer = "part" + std::to_string(number / 10000);
            if (mkdir(outer.c_str(), 0755) != 0) return 1;
        }
        if (!is_flat && number % 100 == 0) {
            inner = outer + "/module" + std::to_string(number / 100 % 100);
            if (mkdir(inner.c_str(), 0755) != 0) return 1;
        }
        const std::string name = is_flat ? "file" + std::to_string(number) + ".c"
                                         : inner + "/file" + std::to_string(number % 100) + ".c";
        const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (file < 0) {
            std::perror(name.c_str());
            return 1;
        }
        close(file);
    }
    return 0;
}
