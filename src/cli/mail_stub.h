// SPDX-License-Identifier: MIT
// This program under the name of a mailer: it prints that mail is closed and exits with the code that mailers
// use for "permission denied".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cli {

// The name of the mailer that this program runs as: from the path that the kernel executed, else from
// argv[0]. Nothing under any other name.
std::optional<std::string> mailer_name(std::string_view executed, std::string_view first_word);

// Prints the text of share/network/mail_stub.txt with the number of arguments, but not their content.
int run_mail_stub(std::string_view name, int argument_count);

// The text, for tests.
std::string mail_stub_text(std::string_view name, int argument_count);

}  // namespace cli
