#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files that run on the host automatically, at a log-in or when a shell starts, can't be changed or created in any home mode.

load helper

setup() {
    start_test
    echo "# mine" >"$HOME/.bashrc"
    mkdir -p "$HOME/bin" "$HOME/.config" "$HOME/.local/bin" "$HOME/tools"
    PATH=$HOME/bin:$HOME/tools:$HOME/later:$PATH
}
teardown() { end_test; }

# expect_unplanted FILE: it can be created or changed outside (the control), and not inside.
expect_unplanted() {
    local file=$HOME/$1 before=absent
    [[ -f $file ]] && before=$(cat "$file")
    works sh -c 'mkdir -p "$(dirname "$1")" && echo control >>"$1"' sh "$file"
    if [[ $before == absent ]]; then rm -f "$file"; rmdir -p --ignore-fail-on-non-empty "$(dirname "$file")" 2>/dev/null || true; else echo "$before" >"$file"; fi
    fails "" in_jail_sh 'mkdir -p "$(dirname "$1")"; rm -rf "$1" 2>/dev/null; echo planted >>"$1"' "$file"
    ! grep -qs planted "$file" || leak "$1 was written"
}

# bats test_tags=smoke
@test "write: start-up files can be neither changed nor made" {
    JAIL=(--home write)
    for file in .bashrc .profile .bash_profile .zshenv .config/fish/config.fish .config/autostart/x.desktop \
        .config/systemd/user/x.service .local/share/applications/x.desktop .pam_environment .xprofile .ssh/rc .gitconfig \
        .config/git/config .npmrc .config/pip/pip.conf .cargo/config.toml .condarc .vimrc .config/nvim/init.lua .emacs; do
        expect_unplanted "$file"
    done
    works in_jail touch "$HOME/ordinary"
}

@test "write: start-up files of desktops, mail, terminals and editors can be neither changed nor made" {
    JAIL=(--home write)
    for file in .config/openbox/autostart .config/awesome/rc.lua .config/sway/config .xinitrc .xsession .forward .procmailrc .mailcap \
        .config/VSCodium/User/settings.json .config/Cursor/User/settings.json .local/share/gnome-shell/extensions/x/extension.js \
        .local/share/thumbnailers/x.thumbnailer .config/pipewire/pipewire.conf .config/mpv/scripts/x.lua .psqlrc .lesskey; do
        expect_unplanted "$file"
    done
}

@test "write: files that libraries, the sound server, browsers, systemd and small window managers read can be neither changed nor made" {
    JAIL=(--home write)
    for file in .config/vulkan/implicit_layer.d/x.json .local/share/vulkan/implicit_layer.d/x.json .config/user-tmpfiles.d/x.conf \
        .local/share/user-tmpfiles.d/x.conf .config/pulse/default.pa .config/alsa/asoundrc .asoundrc .icewm/startup .fluxbox/startup \
        .config/X11/xinitrc .config/leftwm/up .config/autorandr/postswitch .config/chromium-flags.conf .config/code-flags.conf \
        .config/electron-flags.conf .config/gtk-3.0/settings.ini .config/nix/nix.conf .config/nixpkgs/config.nix \
        .config/ipython/profile_default/startup/x.py .local/share/nautilus/scripts/x .task/hooks/on-launch \
        .config/notmuch/default/hooks/post-new .weechat/python/autoload/x.py .local/share/jupyter/kernels/x/kernel.json .config/wayfire.ini; do
        expect_unplanted "$file"
    done
    works in_jail sh -c 'mkdir -p ~/.config/other && touch ~/.config/other/file'
}

@test "write: programs that start-up files lead to can't be changed, and a missing one can be installed" {
    local file
    JAIL=(--home write)
    for file in .nvm/nvm.sh .fzf.bash .fzf/bin/fzf .asdf/asdf.sh .opam/opam-init/init.sh .pyenv/shims/python .rbenv/shims/ruby \
        .rustup/toolchains/x/bin/rustc .local/share/nvim/lazy/x/plugin/x.lua miniconda3/etc/profile.d/conda.sh .sdkman/bin/sdkman-init.sh; do
        works in_jail_sh 'mkdir -p "$(dirname "$1")" && echo "# installed" >"$1"' "$HOME/$file"
        prints "# installed" cat "$HOME/$file"
        expect_unplanted "$file"
        fails "" in_jail mv "$HOME/${file%%/*}" "$HOME/aside"
    done
}

@test "write: programs on the PATH can be neither changed nor made" {
    JAIL=(--home write)
    for file in bin/ls .local/bin/ls tools/ls later/ls; do expect_unplanted "$file"; done
}

@test "write: no directory above a start-up file can be renamed aside" {
    JAIL=(--home write)
    for name in .config .local bin; do
        fails "busy" in_jail mv "$HOME/$name" "$HOME/$name.aside"
    done
    works mv "$HOME/.config" "$HOME/.config.aside"
}

@test "start-up files stay protected below a directory of home.writable" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[home]\nwritable = [".config", ".local"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    for mode in tmpwrite restricted read; do
        JAIL=(--home "$mode")
        expect_unplanted .config/fish/config.fish
        expect_unplanted .config/autostart/x.desktop
        expect_unplanted .local/bin/ls
        works in_jail touch "$HOME/.config/ordinary"
        works test -e "$HOME/.config/ordinary"
    done
}

@test "a setting that names a start-up file makes it writable" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[home]\naccess = "write"\nunprotect = [".config/nvim"]\nwritable = ["bin"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    works in_jail_sh 'mkdir -p "$HOME/.config/nvim" && echo x >"$HOME/.config/nvim/init.lua" && echo x >"$HOME/bin/mine"'
    works test -e "$HOME/.config/nvim/init.lua"
    works test -e "$HOME/bin/mine"
    works in_jail touch "$HOME/.profile.x"
    JAIL=(--rw "$HOME/.bashrc")
    works in_jail_sh 'echo more >>"$HOME/.bashrc"'
    works grep -q more "$HOME/.bashrc"
}

@test "placeholders are gone after the session, and a log-in shell reads .profile while it runs" {
    JAIL=(--home write)
    echo 'echo from-profile' >"$HOME/.profile"
    local before
    before=$(home_listing)
    works in_jail true
    [[ $(home_listing) == "$before" ]] || report "$(diff <(echo "$before") <(home_listing))"
    "$SBX_PROGRAM" --quiet --home write -- sh -c 'echo up >ready; while [ -e ready ]; do sleep 0.05; done' &
    CHILDREN+=($!)
    wait_until test -s ready
    works test -f "$HOME/.bash_profile"
    prints from-profile bash -lc true
    rm ready
    wait "${CHILDREN[0]}"
    wait_until test ! -e "$HOME/.bash_profile"
}

@test "a symbolic link in the path that the jail could exchange is refused, unless a setting names it" {
    mkdir -p "$HOME/dotfiles" "$HOME/.config/agent-sandbox"
    mv "$HOME/.bashrc" "$HOME/dotfiles/bashrc"
    ln -s dotfiles/bashrc "$HOME/.bashrc"
    JAIL=(--home write)
    fails ".bashrc is a symbolic link that the jail could exchange" in_jail true
    printf '[home]\nunprotect = [".bashrc"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    works in_jail true
    JAIL=(--home read)
    works in_jail true
}
