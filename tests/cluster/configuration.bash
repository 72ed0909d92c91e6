# SPDX-License-Identifier: MIT
# The configuration of the cluster. Sourced by tests/cluster/run.

NODES=(node0 node1 node2 node3)

has_accounting() { [[ ${SBX_CLUSTER_ACCOUNTING:-1} != 0 ]]; }

write_configuration() {
    mkdir -p /etc/slurm /run/munge "$CLUSTER/state/controller" "$CLUSTER/spool/${NODES[0]}"
    # This cluster must not use the host's own key.
    rm -rf /etc/munge
    install -d -m 0700 /etc/munge
    head -c 128 /dev/urandom >/etc/munge/munge.key
    chmod 0400 /etc/munge/munge.key
    slurm_conf >/etc/slurm/slurm.conf
    rm -f /etc/slurm/plugstack.conf
    if has_accounting; then
        slurmdbd_conf >/etc/slurm/slurmdbd.conf
        chmod 0600 /etc/slurm/slurmdbd.conf
    fi
}

# The nodes claim more processors and memory than exist (config_overrides). No plug-in uses control groups, so that this runs where
# they are not available. Memory is a resource, with a small default, so that jobs can share a node.
slurm_conf() {
    local number
    cat <<CONF
ClusterName=testcluster
SlurmctldHost=login(127.0.0.1)
SlurmUser=root
SlurmctldPort=6817
AuthType=auth/munge
AuthInfo=socket=/run/munge/munge.socket.2
CredType=cred/munge
StateSaveLocation=$CLUSTER/state/controller
SlurmdSpoolDir=$CLUSTER/spool/%n
SlurmctldPidFile=$CLUSTER/state/slurmctld.pid
SlurmdPidFile=$CLUSTER/state/slurmd-%n.pid
SlurmctldLogFile=$CLUSTER/log/slurmctld
SlurmdLogFile=$CLUSTER/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=64
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1
FirstJobId=1001
MinJobAge=300
KillWait=2
CompleteWait=0
MessageTimeout=5
SlurmctldTimeout=30
SlurmdTimeout=30
UnkillableStepTimeout=10
MailProg=/bin/true
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
CONF
    if has_accounting; then
        cat <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=6819
AccountingStoreFlags=job_comment
PriorityType=priority/multifactor
PriorityWeightFairshare=1000
PriorityWeightAge=1000
CONF
    fi
    for number in "${!NODES[@]}"; do
        echo "NodeName=${NODES[number]} NodeHostname=${NODES[number]} NodeAddr=127.0.0.1 Port=$((7000 + number)) CPUs=4 RealMemory=4096"
    done
    echo "PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
    echo "PartitionName=other Nodes=ALL MaxTime=60 State=UP"
}

slurmdbd_conf() {
    cat <<CONF
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=6819
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge/munge.socket.2
LogFile=$CLUSTER/log/slurmdbd
PidFile=$CLUSTER/state/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=3306
StorageUser=root
StoragePass=none
StorageLoc=slurm_acct_db
CONF
}
