// SPDX-License-Identifier: MIT
// Contents of placeholder files: each makes a program behave as if the file were missing. The session
// recognises a placeholder by its content before it removes it, so the plan and the session share this list.
#pragma once

#include <string_view>

namespace base {

inline constexpr std::string_view kEmptyFile;
inline constexpr std::string_view kHereFile = ".\n";     // commondir of a git repository: this directory
inline constexpr std::string_view kObjectFile = "{}\n";  // an empty JSON object
// bash reads the first of .bash_profile, .bash_login and .profile that exists.
inline constexpr std::string_view kBashProfileFile =
    "if [ -s ~/.bash_login ]; then . ~/.bash_login; elif [ -r ~/.profile ]; then . ~/.profile; fi\n";
// tcsh reads .cshrc only where .tcshrc is missing.
inline constexpr std::string_view kTcshFile = "if ( -r ~/.cshrc ) source ~/.cshrc\n";
// vim reads the first that exists, or its defaults if none exists.
inline constexpr std::string_view kVimFile =
    "if filereadable(expand('~/.vim/vimrc')) | source ~/.vim/vimrc\n"
    "elseif filereadable(expand('~/.config/vim/vimrc')) | source ~/.config/vim/vimrc\n"
    "else | unlet! skip_defaults_vim | source $VIMRUNTIME/defaults.vim | endif\n";

inline constexpr std::string_view kNeutralFiles[] = {kEmptyFile,       kHereFile, kObjectFile,
                                                     kBashProfileFile, kTcshFile, kVimFile};

}  // namespace base
