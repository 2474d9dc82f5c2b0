#!/usr/bin/env bash
# Ranks on two hosts that share neither a network interface nor a file: namespaces stand for them. The second one does
# not see the data, and gets them from rank 0.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # MPI has its own
MEDLEY=$(realpath "$MEDLEY")
mpi=$(command -v mpirun.openmpi || command -v mpirun)
if [ -z "$mpi" ] || [ ! -e "$MEDLEY_BUILD/libmedley-mpi.so" ]; then
    skip "two hosts" "there is no mpirun, or no plug-in for it (Debian: openmpi-bin, libopenmpi-dev)"
    exit
fi
a=medley-a-$$ b=medley-b-$$
leave() {
    ip netns del "$a" 2>/dev/null
    ip netns del "$b" 2>/dev/null
    finish
}
if ! { ip netns add "$a" && ip netns add "$b" && unshare -m -u true; } 2>"$err"; then
    ip netns del "$a" 2>/dev/null
    skip "two hosts" "namespaces cannot be made here ($(tail -n 1 "$err"))"
    exit
fi
trap leave EXIT
ip link add one netns "$a" type veth peer name two netns "$b"
ip -n "$a" addr add 10.77.0.1/24 dev one
ip -n "$b" addr add 10.77.0.2/24 dev two
for host in "$a:one" "$b:two"; do
    ip -n "${host%:*}" link set lo up
    ip -n "${host%:*}" link set "${host#*:}" up
done
cd "$work" || exit 1
mkdir data nothing
tagged 60 3 >data/train.txt
"$MEDLEY" generate ringnorm --rows 60 --output data/two.csv
# What ssh would be: agent HOST COMMAND...
cat >agent <<END
#!/bin/sh
shift
exec ip netns exec $b unshare -m -u sh -c 'hostname second; mount --bind $work/nothing $work/data; exec sh -c "\$*"' sh "\$@"
END
chmod +x agent
on_two_hosts() {
    timeout 120 ip netns exec "$a" "$mpi" --mca plm_rsh_agent "$work/agent" --mca btl tcp,self \
        --host 10.77.0.1:1,10.77.0.2:1 -n 2 "$MEDLEY" "$@"
}
expect_exit 0 "two hosts: templates" on_two_hosts train --quiet --json --model t.medley --template chunk --epochs 3 data/train.txt
check "two hosts: both took part" [ "$(key ranks "$out")" = 2 ]
"$MEDLEY" train --quiet --model one.medley --template chunk --epochs 3 data/train.txt >"$out"
check "two hosts: the model of one" cmp one.medley t.medley
expect_exit 0 "two hosts: predict" on_two_hosts predict --model t.medley --output p.txt data/train.txt
"$MEDLEY" predict --model one.medley data/train.txt >one.txt
check "two hosts: the predictions of one" cmp one.txt p.txt
expect_exit 0 "two hosts: spicy" on_two_hosts train --quiet --json --model s.medley --method spicy --kernel 'rbf(sigma={1,2,4})' data/two.csv
expect_exit 0 "two hosts: tune" on_two_hosts tune --quiet --C 0.1,1,10 --cv 3 data/two.csv
