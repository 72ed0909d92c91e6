#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Connections that the gateway reads carry what other connections carry: large bodies both ways, many requests, chunks, proxies. The
# control of each is the same command outside.

load helper
load brokered

setup() {
    start_credential_test
    define_tracker_from "from_command = [\"cat\", \"$SBX_HOME/keys/tracker\"]" 'when = "always"'
}
teardown() { end_egress_test; }

# same TEXT COMMAND: outside and inside.
same() {
    says "$1" outside_sh "$2"
    says "$1" brokered_sh "$2"
}

peak_of() { awk '/^VmHWM:/ { print $2 }' "/proc/$1/status"; }

@test "a download and an upload of 200 MB arrive whole" {
    same 209715200 'curl -sS --max-time 100 https://good.example/zeros-200 | wc -c'
    same "$(sha256sum <"$INTERNET/www/random" | cut -d" " -f1)" 'curl -sS --max-time 100 https://good.example/random | sha256sum'
    same taken 'head -c 209715200 /dev/zero | curl -sS --http1.1 --max-time 100 -T - https://good.example/post'
    same taken 'head -c 20000000 /dev/zero >body && curl -sS --http1.1 --max-time 100 --data-binary @body https://good.example/post'
    same taken 'head -c 20000000 /dev/zero >body && curl -sS --max-time 100 -H "Expect: 100-continue" --http1.1 --max-time 100 --data-binary @body https://good.example/post'
}

@test "chunked answers, HEAD and many requests on one connection" {
    same "$(outside curl -sS --max-time 100 https://good.example/chunked | sha256sum | cut -d" " -f1)" 'curl -sS --max-time 100 https://good.example/chunked | sha256sum'
    same " 200 " 'curl -sSI https://good.example/random'
    says 1 brokered_sh 'curl -sS --max-time 100 -o /dev/null -w "%{num_connects}\n" "https://good.example/quiet?[1-300]" | grep -c 1'
    same 40 'for i in {1..40}; do curl -sS --max-time 100 "https://good.example/quiet?$i" & done | grep -c quiet; wait'
}

@test "requests that a client sends ahead of the answers are answered in order" {
    cat >ahead.py <<'END'
import socket, ssl
plain = socket.create_connection(("good.example", 443))
secure = ssl.create_default_context().wrap_socket(plain, server_hostname="good.example")
secure.sendall(b"".join(b"GET /private/%d HTTP/1.1\r\nHost: good.example\r\n\r\n" % i for i in range(5)) +
               b"GET /private HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n")
answer = b""
while piece := secure.recv(65536):
    answer += piece
print("answers", answer.count(b"HTTP/1.1 200"))
END
    says "answers 6" brokered python3 ahead.py
    [[ $(since_mark values | grep -c "|Bearer $VALUE|") == 6 ]]
}

@test "1,000 requests go over one connection, each with the value" {
    says "1000 1" brokered_sh 'curl -sS --max-time 300 -w "%{num_connects}\n" "https://good.example/private?[1-1000]" >got
        echo "$(grep -c welcome got) $(grep -c ^1 got)"'
    [[ $(since_mark values | grep -c "|Bearer $VALUE|") == 1000 ]]
}

@test "each event of a stream arrives before the next one is sent" {
    cat >events.py <<'END'
import http.client, sys
stream, reports = (http.client.HTTPSConnection("good.example", timeout=100) for _ in range(2))
stream.request("GET", "/events")
answer, count = stream.getresponse(), 0
while line := answer.readline():
    if line.startswith(b"data: "):
        reports.request("GET", "/events/seen?" + line[6:].decode().strip())
        reports.getresponse().read()
        count += 1
print(count, "events")
END
    same "100 events" 'python3 events.py'
}

@test "a WebSocket goes through, both ways and to its end" {
    cat >upgrade.py <<'END'
import socket, ssl
plain = socket.create_connection(("good.example", 443), timeout=100)
secure = ssl.create_default_context().wrap_socket(plain, server_hostname="good.example")
secure.sendall(b"GET /switch HTTP/1.1\r\nHost: good.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
head = b""
while b"\r\n\r\n" not in head:
    head += secure.recv(1)
assert head.startswith(b"HTTP/1.1 101 "), head
for number in range(200):
    frame = b"\x82\x7e\x10\x00" + bytes([number]) * 4096
    secure.sendall(frame)
    got = b""
    while len(got) < len(frame):
        got += secure.recv(len(frame) - len(got))
    assert got == frame
secure.sendall(b"\x88\x00")
assert secure.recv(2) == b"\x88\x00"
secure.close()
print("echoed")
END
    same echoed 'python3 upgrade.py'
    seen values "good.example|GET /switch HTTP/1.1|101|Bearer $VALUE|"
}

@test "a client that closes its half still gets the answer" {
    cat >half.py <<'END'
import socket, ssl
plain = socket.create_connection(("good.example", 443), timeout=100)
into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
secure = ssl.create_default_context().wrap_bio(into, out, server_hostname="good.example")
def step(act):
    while True:
        try:
            return act()
        except ssl.SSLWantReadError:
            plain.sendall(out.read())
            data = plain.recv(65536)
            into.write(data) if data else into.write_eof()
step(secure.do_handshake)
secure.write(b"GET /private HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n")
try:
    secure.unwrap()
except ssl.SSLWantReadError:
    pass
plain.sendall(out.read())
plain.shutdown(socket.SHUT_WR)
answer = b""
while piece := plain.recv(65536):
    answer += piece
into.write(answer)
print(secure.read(65536).decode())
END
    says "no value" outside_sh 'python3 half.py'
    says welcome brokered_sh 'python3 half.py'
}

@test "a large download and upload do not grow the gateway, nor do many connections" {
    start_brokered_jail
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
    local before
    before=$(peak_of "$GATEWAY")
    tell_jail 'curl -sS --max-time 300 https://good.example/zeros-512 | wc -c'
    [[ $output == 536870912 ]] || report "should arrive whole"
    tell_jail 'head -c 536870912 /dev/zero | curl -sS --http1.1 --max-time 300 -T - https://good.example/post'
    [[ $output == taken ]] || report "should be taken"
    # The most it had at any time.
    (($(peak_of "$GATEWAY") < before + 4096)) || report "should not grow: $before $(peak_of "$GATEWAY")"
    before=$(memory_of "$GATEWAY")
    # 64 idle connections, each with one request behind it.
    cat >many.py <<'END'
import http.client, os, time
connections = [http.client.HTTPSConnection("good.example", timeout=100) for _ in range(64)]
for each in connections:
    each.request("GET", "/private")
    assert each.getresponse().read() == b"welcome\n"
open("connected", "w").close()
while not os.path.exists("enough"):
    time.sleep(0.01)
END
    printf 'python3 many.py\n' >orders
    wait_until test -e connected
    local now
    now=$(memory_of "$GATEWAY")
    touch enough
    ((now < before + 1024 + 64 * 64)) || report "should keep 64 KiB a connection at most: $before $now"
}

@test "requests through the gateway's proxy ports are read too" {
    says welcome brokered curl -sS --max-time 100 --proxy http://198.18.0.1:3128 https://good.example/private
    says welcome brokered curl -sS --max-time 100 --proxy socks5h://198.18.0.1:1080 https://good.example/private
    [[ $(since_mark values | grep -c "|Bearer $VALUE|") == 2 ]]
}

@test "names that differ are refused, and nothing arrives" {
    says "x-agent-sandbox: host_mismatch" brokered curl -sSi -H "Host: also.example" https://good.example/private
    run brokered curl -sS --max-time 100 --connect-to also.example:443:good.example:443 https://also.example/private
    ((status != 0))
    unseen values private
    # The name by an address or at another port is not a way around.
    JAIL+=(--allow-host 203.0.113.10 --allow-host good.example:8080)
    run brokered curl -sS --max-time 100 --resolve good.example:443:203.0.113.10 https://good.example/private
    ((status != 0)) || report "should be refused by its address"
    run brokered curl -sS --max-time 100 http://good.example:8080/private
    [[ $output == *"requests are read only where"* ]] || report "should be refused at another port"
    unseen values private
}

@test "the site's proxy carries the requests, and gets no value" {
    user_says '[network]' 'upstream_proxy = "http://203.0.113.80:3128"' '[credential.tracker]' 'hosts = ["good.example"]' 'put = "bearer"' \
        'variable = "TRACKER_TOKEN"' 'shape = "tok_{40}"' 'from_file = "~/keys/tracker"'
    says welcome brokered_sh 'curl -sS --max-time 100 -H "Authorization: Bearer $TRACKER_TOKEN" https://good.example/private'
    seen proxy "good.example:443"
    seen values "|Bearer $VALUE|"
    unseen proxy "$VALUE"
}

@test "after a reload the value is read again" {
    start_brokered_jail
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
    printf 'tok_anotherVALUEanotherVALUEanother\n' >"$SBX_HOME/keys/tracker"
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should still have the value"
    works as_user "$SBX_PROGRAM" reload
    log_mark
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *"no value"* ]] || report "should have the new value"
    seen values "|Bearer tok_anotherVALUEanotherVALUEanother|"
}

@test "a push of 200 MB arrives, a clone brings it back, and the gateway does not grow" {
    start_brokered_jail
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
    # Random bytes, so that compression would only cost time.
    printf '%s\n' 'git clone -q https://git.example/private-git/one.git clone && cd clone && head -c 200000000 /dev/urandom >large &&' \
        'git config core.compression 0 && git add large && git -c user.name=A -c user.email=a@example.org commit -q -m large' >commit.sh
    tell_jail 'sh commit.sh'
    ((status == 0)) || report "should clone and commit"
    local before branch=large-$$
    before=$(peak_of "$GATEWAY")
    tell_jail "cd clone && git push -q origin HEAD:refs/heads/$branch"
    ((status == 0)) || report "should push"
    seen values "git-receive-pack HTTP/2.0|200|Basic "
    tell_jail "git clone -q --single-branch --branch $branch https://git.example/private-git/one.git back && cmp clone/large back/large && echo same"
    [[ $output == same ]] || report "should bring the same file back"
    # The most it had at any time.
    (($(peak_of "$GATEWAY") < before + 4096)) || report "should not grow: $before $(peak_of "$GATEWAY")"
    tell_jail "cd clone && git push -q origin :refs/heads/$branch"
    ((status == 0)) || report "should remove the branch"
}
