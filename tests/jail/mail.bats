#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Mail: every mailer, under every name and with any arguments, prints that mail is closed and sends nothing.

load helper
setup() { start_test; }
teardown() { end_test; }

# says_closed COMMAND...: the stub's exit code and text.
says_closed() {
    run -77 in_jail "$@" </dev/null
    [[ $output == *"policy, not a fault"* ]] || report "should say that it is policy: $*"
}

# bats test_tags=smoke
@test "a mailer that is installed runs outside, and is a stub inside, by name and by path" {
    [[ $(readlink -f /usr/sbin/sendmail) == */msmtp ]]
    for mailer in msmtp /usr/bin/msmtp /usr/sbin/sendmail /usr/lib/sendmail; do
        [[ $mailer != /* || -e $mailer ]]
        [[ $mailer == /usr/sbin/* ]] || command -v "$mailer" >/dev/null
        run "$mailer" --version
        [[ $output == *"msmtp version"* ]] || report "control: $mailer should run outside"
        says_closed "$mailer" --version
    done
}

@test "a mailer that is not installed is a stub too" {
    for mailer in swaks mailx mutt qmail-inject; do
        ! command -v "$mailer" || skip "$mailer is installed here"
        says_closed "$mailer" someone@example.org
    done
}

@test "every mailer on the list is a stub" {
    works in_jail_sh 'for name in sendmail sendmail.sendmail sendmail.postfix rmail mail mailx Mail s-nail nail bsd-mailx \
        heirloom-mailx mutt neomutt msmtp ssmtp nullmailer-send smtp-cli postsuper postdrop postqueue mailq newaliases swaks mpack \
        metasend exim exim4 dma qmail-inject qmail-qmqpc qmail-remote; do
        "$name" </dev/null 2>/dev/null
        [ $? = 77 ] || { echo "$name"; exit 1; }
    done'
}

@test "the stub reports the name that was executed, whatever argv[0] contains" {
    run -77 in_jail bash -c 'exec -a harmless /usr/bin/msmtp --version'
    [[ $output == msmtp:* ]] || report "should know its name"
}

@test "only the number of the arguments is printed" {
    says_closed sendmail -t secret-one@example.org 'secret two'
    [[ $output != *secret* ]] || leak "should not print its arguments"
    [[ $output == *"arguments given: 3"* ]] || report "should count its arguments"
}

@test "the stub can't be removed, written or mounted over" {
    fails "" in_jail_sh 'rm -f /usr/bin/msmtp'
    fails "" in_jail_sh ': >/usr/bin/msmtp'
    fails "" in_jail_sh 'rm /run/agent-sandbox/stubs/mail'
    says_closed /usr/bin/msmtp
}

@test "network.mail_block = off leaves mailers as they are" {
    JAIL=(--project "$PROJECT")
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[network]\nmail_block = "off"\n' >"$HOME/.config/agent-sandbox/config.toml"
    works in_jail /usr/bin/msmtp --version
    [[ $output == *"msmtp version"* ]] || report "should be the real one"
}

@test "with the host's network asked for, mailers are left as they are" {
    JAIL=(--network open)
    works in_jail /usr/bin/msmtp --version
}

@test "the plan lists the closed mail ports and the mailer stubs" {
    works "$SBX_PROGRAM" plan true
    [[ $output == *"the ports are closed, and mailers say so"* ]] || report "should be a control"
}
