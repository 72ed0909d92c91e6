// SPDX-License-Identifier: MIT
// The choices of settings as enumerations, in the order of the table (config/settings.cc), and their words.
#pragma once

#include <string_view>

namespace policy {

enum class HomeAccess { write, read, tmpwrite, restricted };  // least strict first, as in the table
enum class EnvMode { inherit, clean };
enum class NetworkMode { open, filtered, proxied, isolated };
enum class NetworkFallback { open, stricter, strict };
enum class MailBlock { off, automatic, on };
enum class SlurmMode { automatic, off };
// Whose jobs the jail can see and act on. none: it sees the jobs of all users.
enum class SlurmScope { none, user, project, session };
enum class Gpu { on, automatic, off };
enum class Level { absent, cooperative, denied, hidden };  // weakest first
enum class Requirement { absent, automatic, cooperative, denied, hidden };

std::string_view to_text(HomeAccess access);
std::string_view to_text(NetworkMode mode);
std::string_view to_text(Level level);
std::string_view to_text(SlurmScope scope);

}  // namespace policy
