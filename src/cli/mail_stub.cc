// SPDX-License-Identifier: MIT
#include "cli/mail_stub.h"

#include <cstdio>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/network/mail.h"
#include "session/helpers/notices.h"

namespace cli {
namespace {

constexpr int kPermissionDenied = 77;  // EX_NOPERM of sysexits(3)

void replace(std::string& text, std::string_view mark, std::string_view value) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
        text.replace(at, mark.size(), value);
}

}  // namespace

std::optional<std::string> mailer_name(std::string_view executed, std::string_view first_word) {
    for (std::string_view word : {executed, first_word}) {
        std::string_view name = base::base_name(word);
        if (plan::is_mailer_name(name)) return std::string(name);
    }
    return std::nullopt;
}

std::string mail_stub_text(std::string_view name, int argument_count) {
    const config::DataFile* file = config::find_data_file("network/mail_stub.txt");
    std::string text(file ? file->content : "");
    replace(text, "{name}", base::printable(name.substr(0, 64)));
    replace(text, "{count}", std::to_string(argument_count));
    return text;
}

int run_mail_stub(std::string_view name, int argument_count) {
    // Report it for the session's record; the result is the same if the report is lost.
    constexpr std::string_view kSockets[] = {base::kNotifySocket, base::kMailSocket};
    (void)session::send_notice(std::string(session::kMailMark) + std::string(name), kSockets,
                               session::FullQueue::gives_up);
    std::fputs(mail_stub_text(name, argument_count).c_str(), stderr);
    return kPermissionDenied;
}

}  // namespace cli
