// SPDX-License-Identifier: MIT
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "backends/native/failure.h"

namespace backends::native {
namespace {

struct iovec field(const char* text) {
    return {const_cast<char*>(text), std::strlen(text) + 1};
}

// Enough for every errno and every phase.
struct Digits {
    char text[8];
};

Digits digits_of(unsigned number) {
    Digits digits = {};
    size_t count = 1;
    for (unsigned rest = number; rest >= 10 && count < sizeof digits.text - 1; rest /= 10) ++count;
    for (size_t i = count; i-- > 0; number /= 10) digits.text[i] = static_cast<char>('0' + number % 10);
    return digits;
}

}  // namespace

void send_failure(int descriptor, const Failure& failure) {
    Digits phase = digits_of(static_cast<unsigned>(failure.phase));
    Digits number = digits_of(static_cast<unsigned>(failure.number));
    struct iovec fields[] = {field(phase.text), field(number.text), field(failure.object),
                             field(failure.other)};
    (void)!::writev(descriptor, fields, 4);
}

}  // namespace backends::native
