// SPDX-License-Identifier: MIT
// A request is three bytes: the stage reads the first ones without a buffer that could hold more.
#include "inner/messages.h"

#include "base/encoding/codec.h"

template <>
inline constexpr inner::Report::Kind base::kLast<inner::Report::Kind> = inner::Report::Kind::ended;
template <>
inline constexpr auto base::kFields<inner::Report> = std::tuple(&inner::Report::kind, &inner::Report::number,
                                                                &inner::Report::by_signal,
                                                                &inner::Report::step, &inner::Report::object);

namespace inner {

std::string encode(const Report& report) {
    base::FieldWriter writer;
    base::write(writer, report);
    return writer.take();
}

bool take_report(std::string& buffer, Report& report) {
    return base::take(buffer, report);
}

std::string encode(const SignalRequest& request) {
    return {static_cast<char>(request.signal), request.to_group ? '1' : '0',
            request.takes_terminal ? '1' : '0'};
}

bool take_signal_request(std::string& buffer, SignalRequest& request) {
    if (buffer.size() < kSignalRequestSize) return false;
    request =
        SignalRequest{.signal = buffer[0], .to_group = buffer[1] == '1', .takes_terminal = buffer[2] == '1'};
    buffer.erase(0, kSignalRequestSize);
    return true;
}

}  // namespace inner
