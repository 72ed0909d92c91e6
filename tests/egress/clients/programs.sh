# SPDX-License-Identifier: MIT
# programs.sh PROGRAM HOST [PATH]: one request by a program in its default configuration, without proxy variables; prints the
# server's answer.
set -eu
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy
program=$1 host=$2 path=${3:-/}
here=$PWD
# A new directory: it contains neither downloads of the previous run nor files that the jail protects.
fresh=$(mktemp -d "$here/fresh.XXXXXX")
bare=${host#[}
bare=${bare%]}
ssh="ssh -F /dev/null -i $here/login -o BatchMode=yes -o ConnectTimeout=10 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
case $program in
    curl) curl -sSL --fail --max-time 20 "https://$host$path" ;;
    curl-plain) curl -sSL --fail --max-time 20 "http://$host$path" ;;
    wget) wget -qO- --tries=1 --timeout=20 --ca-certificate=authority.crt "https://$host$path" ;;
    python) python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())' "https://$host$path" ;;
    node) node -e 'fetch(process.argv[1]).then(r => r.text()).then(t => console.log(t)).catch(e => { console.error(e, e.cause); process.exit(1); })' "https://$host$path" ;;
    go) "$FETCH_GO" "https://$host$path" ;;
    java) java -Xshare:auto -XX:TieredStopAtLevel=1 -cp "$FETCH_JAVA" Fetch "https://$host$path" ;;
    git) git -c http.connectTimeout=10 ls-remote "https://$host/git/one.git" ;;
    git-push)
        git clone -q "https://$host/git/one.git" "$fresh/clone" && cd "$fresh/clone" && date +%N >new && git add . &&
            git -c user.name=t -c user.email=t@example.org commit -qm more && git push -q origin "HEAD:refs/heads/${fresh##*.}" && echo pushed ;;
    git-ssh) GIT_SSH_COMMAND=$ssh git clone -q "ssh://remote@$host/home/remote/one.git" "$fresh/clone" && cat "$fresh/clone/file" ;;
    ssh) $ssh "remote@$bare" echo over ssh ;;
    psql) PGCONNECT_TIMEOUT=10 psql -h "$bare" -U tester -d postgres -Atc "select 'from the database'" ;;
    npm)
        cd "$fresh" && echo '{"name":"x","version":"1.0.0"}' >package.json
        HOME=$PWD npm install --no-audit --no-fund --no-update-notifier --fetch-retries=0 --cafile="$here/authority.crt" --registry="https://$host/npm/" hello-npm >npm.out 2>&1 ||
            { cat npm.out >&2; exit 1; }
        node -e 'console.log(require("hello-npm"))' ;;
    apt)
        cd "$fresh" && mkdir -p state/lists/partial cache/archives/partial etc
        echo "deb [trusted=yes] http://$host/apt ./" >etc/sources.list
        options="-o Dir::State=$PWD/state -o Dir::State::status=/dev/null -o Dir::Cache=$PWD/cache -o Dir::Etc::sourcelist=$PWD/etc/sources.list -o Dir::Etc::sourceparts=- -o APT::Sandbox::User= -o Acquire::Retries=0 -o APT::Update::Error-Mode=any"
        apt-get -q $options update && apt-get -q $options download hello-apt && ls hello-apt*.deb ;;
    *) echo "no program $program" >&2; exit 2 ;;
esac
