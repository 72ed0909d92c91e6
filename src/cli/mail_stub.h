// SPDX-License-Identifier: MIT
// The program under the name of a mailer: it says that mail is closed, and ends with the code by which
// mailers say "permission denied".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cli {

// The mailer's name that the program runs as: by what the kernel executed, else by its first word. Nothing
// under any other name.
std::optional<std::string> mailer_name(std::string_view executed, std::string_view first_word);

// Prints the text of share/network/mail_stub.txt; nothing of the arguments but their number.
int run_mail_stub(std::string_view name, int argument_count);

// The text, for tests.
std::string mail_stub_text(std::string_view name, int argument_count);

}  // namespace cli
