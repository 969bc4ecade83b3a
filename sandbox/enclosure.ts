import type { ScriptLimits } from '../settings/scripts';
import type { IsolationMethod, Tools } from './method';

/** The command line of a script, from the outermost program to its own. */
export interface Inside {
  readonly command: readonly string[];
  readonly directory: string;
  readonly limits: ScriptLimits;
  readonly network: 'none' | 'host';
  readonly places: Places;
  /** The folder of its control group, if it has one. */
  readonly group?: string | undefined;
}

/** Folders as the script sees them; none is a symbolic link. */
export interface Places {
  /** An empty folder on which private ones are assembled. */
  readonly stage: string;
  /** Folders replaced by empty private ones, which vanish with the script; the one that contains `stage` comes last. */
  readonly privates: readonly string[];
  /** Parts of the private folders that it sees nevertheless. */
  readonly kept: readonly string[];
  /** Writable folders; everything else that is not private is read-only. */
  readonly writable: readonly string[];
}

/** Gets a message once the set-up is done and only the script itself can still fail. */
const READY_FD = 3;

/**
 * The program and arguments for a method. Each process dies with its parent, up to the worker: `--pdeathsig` and
 * `--kill-child`. In namespaces the first process inside is a shell that only waits: when it ends, the kernel kills all
 * remaining processes there, whatever their names and sessions.
 */
export function buildSandboxCommand(
  { namespaces, account, tools }: IsolationMethod,
  inside: Inside,
): readonly string[] {
  if (tools === null) return inside.command;
  const { command, directory, limits } = inside;
  const start = ['/bin/sh', '-c', LAUNCH, 'start', directory, ...command];
  const stripped = [tools.setpriv, ...rights(account, namespaces), ...buildLimitCommand(tools, limits), ...start];
  const withWorker = [...joinCommand(inside), tools.setpriv, '--pdeathsig', 'KILL'];
  if (namespaces === null) return [...withWorker, ...stripped.slice(1)];
  return [
    ...withWorker,
    ...buildUnshareCommand(tools, namespaces, inside),
    '/bin/sh',
    '-c',
    PREPARE,
    ...buildPrepareArgs(inside),
    ...stripped,
  ];
}

const joinCommand = ({ group }: Inside): readonly string[] =>
  group === undefined ? [] : ['/bin/sh', '-c', JOIN, 'join', group];

/** No program that it executes can regain these rights, not even a setuid one. */
function rights(account: IsolationMethod['account'], namespaces: IsolationMethod['namespaces']): readonly string[] {
  const isRoot = namespaces !== null || process.getuid?.() === 0;
  const identity = account && ['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'];
  const none = ['--no-new-privs', '--inh-caps=-all'];
  return [...(identity ?? []), ...none, ...(isRoot ? ['--bounding-set=-all'] : [])];
}

function buildLimitCommand({ prlimit }: Tools, limits: ScriptLimits): readonly string[] {
  const { memoryBytes, processes, cpuMs, fileBytes } = limits;
  return [
    prlimit,
    `--data=${memoryBytes}`,
    `--nproc=${processes}`,
    `--cpu=${Math.ceil(cpuMs / 1_000)}`,
    `--fsize=${fileBytes}`,
    '--core=0',
  ];
}

function buildUnshareCommand({ unshare }: Tools, namespaces: 'own' | 'user', { network }: Inside): readonly string[] {
  const user = namespaces === 'user' ? ['--user', '--map-root-user'] : [];
  const net = network === 'none' ? ['--net'] : [];
  return [unshare, ...user, ...net, '--mount', '--pid', '--fork', '--mount-proc', '--ipc', '--uts', '--kill-child'];
}

function buildPrepareArgs({ limits, network, places }: Inside): readonly string[] {
  const lists = [places.privates, places.kept, places.writable].map((paths) => paths.join('\n'));
  return ['prepare', places.stage, String(limits.fileBytes), network, ...lists];
}

/**
 * Arranges the file system of the script, as root of the namespace, then waits for it. Mounts are made read-only one by
 * one, because `mount` can do all at once only since util-linux 2.39. The probe detects mounts that cannot be.
 */
const PREPARE = `set -eu
mask=$(umask); umask 022
path=$PATH; PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
cd /
stage=$1 size=$2 network=$3 privates=$4 kept=$5 writable=$6; shift 6
set -f
newline='
'
IFS=$newline
within() { case $1 in "$2"|"$2"/*) return 0 ;; esac; return 1; }
stays() {
  for one in /proc $writable; do if within "$1" "$one"; then return 0; fi; done
  for one in $privates; do if [ "$1" = "$one" ]; then return 0; fi; done
  return 1
}
holds() { for one in $kept; do if within "$one" "$1"; then return 0; fi; done; return 1; }
for private in $privates; do
  if ! holds "$private" && ! within "$stage" "$private"; then
    mount -n -t tmpfs -o "mode=1777,size=$size" tmpfs "$private"
    continue
  fi
  mount -n -t tmpfs -o "mode=1777,size=$size" tmpfs "$stage"
  for one in $kept; do
    if ! within "$one" "$private"; then continue; fi
    at=$stage\${one#"$private"}
    if [ -d "$one" ]; then mkdir -p "$at"; else mkdir -p "\${at%/*}"; : > "$at"; fi
    mount -n --rbind "$one" "$at"
  done
  mount -n --move "$stage" "$private"
done
for one in $writable; do mount -n --rbind "$one" "$one"; done
while IFS=' ' read -r _ _ _ _ at options _; do
  case $at in *\\\\*) at=$(printf %b "$at") ;; esac
  case $options in ro*) continue ;; esac
  if stays "$at"; then continue; fi
  mount -n -o "remount,bind,ro\${options#rw}" "$at" 2>/dev/null || true
done < /proc/self/mountinfo
if [ "$network" = none ]; then ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || true; fi
PATH=$path; umask "$mask"; set +e
exec 4>&2 2>/dev/null
(exec "$@" 2>&4 4>&-)
exit $?`;

/** Runs first: all processes started from here on are in the group, and later lack the rights to leave it. */
const JOIN = `echo 0 > "$1/cgroup.procs" || exit 1
shift
exec "$@"`;

/**
 * Runs last before the script, with its rights, limits and folder. It removes the variables that a shell exports
 * itself.
 */
const LAUNCH = `cd "$1" || exit 1
shift
echo ready >&${READY_FD}
exec env -u PWD -u OLDPWD -u SHLVL -u _ "$@" ${READY_FD}>&-`;
