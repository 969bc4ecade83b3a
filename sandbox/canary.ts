import { join } from 'node:path';

/**
 * Scripts that do what scripts must not, for `sh`. Each prints the guarantees that it could break, and `untried` if it
 * lacks the tools to try.
 */

/** Moves to another of these control groups, or back to that of the worker, if it can. */
const LEAVE = `if [ -n "$groups" ]; then for at in "$groups" "$groups"/conveyor-*; do echo $$ > "$at/cgroup.procs"; done 2>/dev/null; fi`;

/**
 * Its arguments: a number known only to this probe, the network of the worker, its control groups or none, and folders
 * that it must not write.
 */
export const INTRUDER = `for tool in cat env grep head readlink setsid sleep tail touch tr wc; do
  command -v "$tool" >/dev/null || echo untried
done
nonce=$1 network=$2 groups=$3; shift 3
${LEAVE}
if grep -qs "CANARY_NONCE=$nonce" /proc/[0-9]*/environ; then echo environment; fi
if [ "$(readlink /proc/self/ns/net)" = "$network" ]; then echo network; fi
for folder; do touch "$folder/.conveyor-canary-$nonce"; done 2>/dev/null
if cat "$CANARY_SECRET" >/dev/null 2>&1; then echo user; fi
leave='echo left; exec >/dev/null 2>&1; sleep 600; :'
echo "$(env -i PATH="$PATH" setsid sh -c "$leave" "canary-left-$nonce" </dev/null 2>/dev/null &)"`;

/** The file that it leaves in a folder, if it can. */
export const markerIn = (folder: string, nonce: string): string => join(folder, `.conveyor-canary-${nonce}`);

/** Limited to 64 MiB and 32 processes. Requests over the limit fail; a shell that cannot fork exits. */
export const GLUTTON = `if [ "$(head -c 134217728 /dev/zero | tail -n 1 2>/dev/null | wc -c)" -gt 134217727 ]; then echo memory; fi
n=0; while [ $n -lt 64 ]; do sleep 60 & n=$((n + 1)); done 2>/dev/null
echo processes`;

/** Limited to 64 MiB in all: each of four processes holds 32 for a moment. The kernel kills the whole group. */
export const MEMORY_HOGS = `groups=$1
${LEAVE}
echo began
hold() { { head -c 33554432 /dev/zero; sleep 1; } | tail -n 1 | wc -c; }
held=$(n=0; while [ $n -lt 4 ]; do hold & n=$((n + 1)); done; wait)
if [ "$(echo "$held" | grep -c 33554432)" -gt 2 ]; then echo total; fi`;
