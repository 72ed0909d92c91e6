// SPDX-License-Identifier: MIT
// A report has four fields that each end with a NUL: its kind and whether a signal ended the command, the
// number, the step, the object. A request is three bytes.
#include "inner/messages.h"

#include <algorithm>

#include "base/parse.h"

namespace inner {
namespace {

constexpr size_t kReportFields = 4;

}  // namespace

std::string encode(const Report& report) {
    std::string frame(1, static_cast<char>(report.kind));
    frame += report.by_signal ? '1' : '0';
    frame += '\0';
    frame += std::to_string(report.number) + '\0';
    frame += report.step + '\0';
    frame += report.object + '\0';
    return frame;
}

bool take_report(std::string& buffer, Report& report) {
    std::string_view fields[kReportFields];
    std::string_view rest = buffer;
    for (std::string_view& field : fields) {
        size_t end = rest.find('\0');
        if (end == std::string_view::npos) return false;
        field = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
    if (fields[0].size() != 2) return false;
    report.kind = static_cast<Report::Kind>(fields[0][0]);
    report.by_signal = fields[0][1] == '1';
    report.number = base::leading_number<int>(fields[1]).value_or(0);
    report.step = fields[2];
    report.object = fields[3];
    buffer.erase(0, buffer.size() - rest.size());
    return true;
}

std::string encode(const Request& request) {
    return {static_cast<char>(request.signal), request.to_group ? '1' : '0',
            request.takes_terminal ? '1' : '0'};
}

bool take_request(std::string& buffer, Request& request) {
    if (buffer.size() < kRequestSize) return false;
    request = Request{.signal = buffer[0], .to_group = buffer[1] == '1', .takes_terminal = buffer[2] == '1'};
    buffer.erase(0, kRequestSize);
    return true;
}

}  // namespace inner
