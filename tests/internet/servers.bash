# SPDX-License-Identifier: MIT
# The servers of the small internet. Sourced by tests/internet/run; each runs until the namespace ends.

SERVERS=$(dirname "${BASH_SOURCE[0]}")
# Hosts whose names clients have built in: services.py and a repository answer for them.
SERVICES=(github.com api.github.com registry.npmjs.org pypi.org files.pythonhosted.org upload.pypi.org registry-1.docker.io auth.docker.io platform.claude.com api.anthropic.com auth.openai.com chatgpt.com)
# aws.py answers for them.
SERVICES+=({sts,s3,dynamodb,bucket.s3}.{eu-central-1,us-east-1}.amazonaws.com)
NAMES=(good also evil git ssh db npm apt mail echo proxy host v4only v6only in-hosts-file "*.many" "*.rebind" "*.trick")

# background NAME COMMAND...: its output goes to a log of its own.
background() {
    local name=$1
    shift
    "$@" </dev/null >"$INTERNET/log/$name.out" 2>&1 &
}
as_world() { in_world setpriv --reuid=world --regid=world --clear-groups --inh-caps=-all env -i PATH="$PATH" HOME=/home/world "$@"; }

start_servers() {
    chown world "$INTERNET/log"
    cp -r "$SERVERS" "$INTERNET/servers"
    chmod -R go+rX "$INTERNET/servers"
    start_database &
    local database=$!
    make_certificates
    start_name_servers
    make_site
    start_nginx
    start_sshd
    start_proxy
    background services as_world python3 -B "$INTERNET/servers/services.py" 8090 "$INTERNET/www"
    background aws as_world python3 -B "$INTERNET/servers/aws.py" 8091
    background world as_world python3 -B "$INTERNET/servers/world.py" "$INTERNET"
    background host setpriv --reuid="$SBX_NEIGHBOUR" --regid="$SBX_NEIGHBOUR" --clear-groups python3 -B "$INTERNET/servers/host.py" "$INTERNET"
    wait "$database"
    wait_for_servers
}

# ---- Certificates: an authority and one certificate for all names and addresses ---------------------------------------

make_certificates() {
    local keys=$INTERNET/keys names name
    names=$(printf 'DNS:%s.example,' "${NAMES[@]}")IP:203.0.113.10,IP:203.0.113.66,IP:198.51.100.7,IP:2001:db8:10::10,DNS:dns.google$(printf ',DNS:%s' "${SERVICES[@]}")
    (
        cd "$keys"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=Test authority" \
            -keyout ca.key -out ca.pem
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=example" -keyout site.key -out site.csr
        openssl x509 -req -in site.csr -CA ca.pem -CAkey ca.key -days 2 -out site.pem -extfile <(echo "subjectAltName=$names")
    ) >"$INTERNET/log/openssl.out" 2>&1
    cp "$keys/ca.pem" "$INTERNET/ca.pem"
    chown -R world "$keys"
}

# ---- Names -----------------------------------------------------------------------------------------------------------

start_name_servers() {
    local records=(
        good,203.0.113.10,2001:db8:10::10 also,203.0.113.10,2001:db8:10::10 evil,203.0.113.66,2001:db8:66::66
        git,203.0.113.10,2001:db8:10::10 npm,203.0.113.10,2001:db8:10::10 apt,203.0.113.10,2001:db8:10::10
        ssh,203.0.113.22,2001:db8:10::22 db,203.0.113.20 mail,203.0.113.10 echo,203.0.113.10,2001:db8:10::10 proxy,203.0.113.80
        v4only,203.0.113.10 v6only,2001:db8:10::10 host,192.0.2.2 intranet,10.1.2.3 cluster,10.20.0.5
    )
    local options=() record
    for record in "${records[@]}"; do options+=("--host-record=${record%%,*}.example,${record#*,}"); done
    for record in "${SERVICES[@]}"; do options+=("--host-record=$record,203.0.113.10"); done
    background dnsmasq in_world dnsmasq --keep-in-foreground --conf-file=/dev/null --pid-file= --user=world --no-resolv --no-hosts \
        --cache-size=0 --log-queries --log-facility="$INTERNET/log/dns" --bind-interfaces --listen-address=203.0.113.53 \
        --listen-address=8.8.8.8 "${options[@]}" --address=/many.example/203.0.113.10 --host-record=dns.google,203.0.113.10 \
        --txt-record=good.example,a-text-of-good --txt-record=evil.example,a-text-of-evil --mx-host=good.example,mail.example,10 \
        --local=/example/ --server=/rebind.example/203.0.113.54 --server=/trick.example/203.0.113.54 --server=/leak.example/203.0.113.54
    background tricks as_world python3 -B "$INTERNET/servers/tricks.py" 203.0.113.54 "$INTERNET/log/tricks"
}

# ---- The content of the web server -------------------------------------------------------------------------------------

make_site() {
    local www=$INTERNET/www
    mkdir -p "$www/git" "$www/npm/hello-npm" "$www/apt"
    truncate -s 10G "$www/zeros"
    truncate -s 200M "$www/zeros-200"
    truncate -s 512M "$www/zeros-512"
    head -c 3000000 /dev/urandom >"$www/random"
    make_repository
    make_package npm "$www/npm"
    make_package apt "$www/apt"
    chown -R world "$www/git"
    chmod -R go+rX "$www"
}

make_repository() {
    local work=$INTERNET/work
    git init -q -b main "$work"
    echo "from a repository" >"$work/file"
    git -C "$work" add file
    git -C "$work" -c user.name=Tester -c user.email=tester@example.org commit -q -m "first"
    git clone -q --bare "$work" "$INTERNET/www/git/one.git"
    git -C "$INTERNET/www/git/one.git" config http.receivepack true
    # A pack that is pushed is stored as it came: compressing 200 MB again would take most of the time of a test.
    git -C "$INTERNET/www/git/one.git" config receive.unpackLimit 1
    cp -r "$INTERNET/www/git/one.git" /home/remote/one.git
    cp -r "$INTERNET/www/git/one.git" "$INTERNET/www/git/app.git"
    chown -R remote /home/remote
}

make_package() {
    local work=$INTERNET/package-$1 folder=$2 file
    mkdir -p "$work"
    case $1 in
        npm)
            mkdir "$work/package"
            echo '{"name":"hello-npm","version":"1.0.0","main":"index.js"}' >"$work/package/package.json"
            echo 'module.exports = "hello from npm";' >"$work/package/index.js"
            tar -C "$work" -czf "$folder/hello-npm-1.0.0.tgz" package
            file=$folder/hello-npm-1.0.0.tgz
            printf '{"name":"hello-npm","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"hello-npm","version":"1.0.0",
                "dist":{"tarball":"https://npm.example/npm/hello-npm-1.0.0.tgz","integrity":"sha512-%s"}}}}' \
                "$(openssl dgst -sha512 -binary "$file" | base64 -w0)" >"$folder/hello-npm/index.json"
            ;;
        apt)
            mkdir -p "$work/DEBIAN" "$work/usr/share/hello-apt"
            printf '%s\n' 'Package: hello-apt' 'Version: 1.0' 'Architecture: all' 'Maintainer: Tester <tester@example.org>' \
                'Description: a package for a test' >"$work/DEBIAN/control"
            dpkg-deb --root-owner-group -b "$work" "$folder/hello-apt_1.0_all.deb" >/dev/null
            file=$folder/hello-apt_1.0_all.deb
            { cat "$work/DEBIAN/control"; printf 'Filename: ./hello-apt_1.0_all.deb\nSize: %s\nSHA256: %s\n\n' "$(stat -c %s "$file")" \
                "$(sha256sum "$file" | cut -d' ' -f1)"; } >"$folder/Packages"
            ;;
    esac
}

start_nginx() {
    sed "s|@INTERNET@|$INTERNET|g" "$SERVERS/nginx.conf" >"$INTERNET/nginx.conf"
    mkdir -p "$INTERNET/nginx"
    chown world "$INTERNET/nginx"
    background nginx as_world nginx -p "$INTERNET/nginx" -c "$INTERNET/nginx.conf"
    background fcgiwrap as_world fcgiwrap -c 2 -s "unix:$INTERNET/nginx/fcgi.sock"
}

# ---- The other servers -------------------------------------------------------------------------------------------------

start_sshd() {
    ssh-keygen -q -t ed25519 -N '' -f "$INTERNET/keys/host_key"
    ssh-keygen -q -t ed25519 -N '' -f "$INTERNET/keys/user_key"
    install -d -o remote -m 0700 /home/remote/.ssh
    install -o remote -m 0600 "$INTERNET/keys/user_key.pub" /home/remote/.ssh/authorized_keys
    printf '%s\n' "Port 22" "ListenAddress 0.0.0.0" "ListenAddress ::" "HostKey $INTERNET/keys/host_key" "PidFile none" "UsePAM no" \
        "PasswordAuthentication no" "StrictModes no" "UseDNS no" "MaxStartups 100" >"$INTERNET/sshd_config"
    chown root "$INTERNET/keys/host_key"
    background sshd in_world /usr/sbin/sshd -D -e -f "$INTERNET/sshd_config"
}

start_database() {
    local programs data=$INTERNET/database
    programs=$(echo /usr/lib/postgresql/*/bin)
    install -d -o world -m 0700 "$data"
    as_world "$programs/initdb" --no-sync -A trust -U tester -D "$data" >"$INTERNET/log/initdb.out" 2>&1
    background postgres as_world "$programs/postgres" -D "$data" -k "$data" -c "listen_addresses=*" -c fsync=off -c shared_buffers=8MB
    printf "%s\n" "host all all 0.0.0.0/0 trust" "host all all ::/0 trust" >>"$data/pg_hba.conf"
}

start_proxy() {
    printf '%s\n' "Port 3128" "Listen 203.0.113.80" "Timeout 60" "MaxClients 200" "LogFile \"$INTERNET/log/proxy\"" "LogLevel Connect" \
        "ViaProxyName \"site\"" >"$INTERNET/tinyproxy.conf"
    background proxy as_world tinyproxy -d -c "$INTERNET/tinyproxy.conf"
}

wait_for_servers() {
    local deadline=$((SECONDS + 180)) target
    for target in 203.0.113.10:443 203.0.113.10:25 203.0.113.20:5432 203.0.113.22:22 203.0.113.80:3128 203.0.113.53:53 127.0.0.1:8001; do
        until (: <"/dev/tcp/${target%:*}/${target##*:}") 2>/dev/null; do
            ((SECONDS < deadline)) || { echo "tests/internet: nothing answers at $target" >&2; tail "$INTERNET"/log/*.out >&2; return 1; }
            sleep 0.05
        done
    done
    # The last UDP server to answer.
    until getent ahostsv4 to-203-0-113-10.trick.example >/dev/null; do ((SECONDS < deadline)) || return 1; done
}
