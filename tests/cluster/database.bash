# SPDX-License-Identifier: MIT
# Accounting: mariadb, slurmdbd, and the accounts of the users. Sourced by tests/cluster/run.

start_accounting() {
    mariadb-install-db --no-defaults --user=root --datadir="$CLUSTER/database" --skip-test-db >"$CLUSTER/log/database.out" 2>&1
    # Only this namespace reaches the port, and no data has to outlive it.
    start mariadbd mariadbd --no-defaults --user=root --datadir="$CLUSTER/database" --skip-grant-tables --skip-networking=OFF \
        --bind-address=127.0.0.1 --port=3306 --socket="$CLUSTER/database.sock" --pid-file="$CLUSTER/state/mariadbd.pid" \
        --skip-name-resolve --innodb-flush-log-at-trx-commit=0 --innodb-lock-wait-timeout=900
    wait_for mariadb-admin --no-defaults --socket="$CLUSTER/database.sock" ping
    start slurmdbd slurmdbd -D
    wait_for sacctmgr --noheader show cluster
    make_accounts
}

make_accounts() {
    {
        echo "add cluster testcluster"
        echo "add account lab,lab2 Cluster=testcluster Description=lab Organization=test"
        echo "add user $SBX_USER Account=lab"
        echo "add user $SBX_NEIGHBOUR Account=lab2"
    } >"$CLUSTER/state/accounts"
    # sacctmgr reads only its own dump format from a file; its interactive mode reads commands.
    sacctmgr --immediate <"$CLUSTER/state/accounts" >"$CLUSTER/log/accounts.out" 2>&1
}
