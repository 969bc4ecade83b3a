import { z } from 'zod';
import { explainFullDisk, type HostPort, type RunResult } from './port';

/**
 * The program that runs on a host, in POSIX shell. It is always this text, sent by standard input; the data are its arguments and, for a record that may be
 * longer than an argument, the two lines before it. Every verb may be repeated after it was killed at any line. A command that arrives late, after a newer
 * one, has a lower sequence number and is refused.
 */
const HOST_SCRIPT = String.raw`main() {
set -eu
umask 022
verb=$1 root=$2
shift 2
meta=$root/.conveyor
say() { printf '%s=%s\n' "$1" "$2"; }
fail() { printf '%s\n' "$1" >&2; exit "$2"; }
lock() {
  mkdir -p "$meta" "$root/releases" "$root/shared"
  exec 9> "$meta/lock"
  flock -w 20 9 || fail 'another command holds the lock of this host' 75
}
fence() {
  last=$(cat "$meta/sequence" 2> /dev/null || echo 0)
  [ "$1" -ge "$last" ] || fail "the command is older than one that ran here" 76
  # The later commands of a change need no room on the disk.
  [ "$1" -ne "$last" ] || return 0
  printf '%s\n' "$1" > "$meta/sequence.part"
  mv -f "$meta/sequence.part" "$meta/sequence"
}
# A file of spare bytes, so that a disk which becomes full does not keep a host from going back.
keep_reserve() {
  [ -s "$meta/reserve" ] || { head -c 524288 /dev/zero > "$meta/reserve.part" && mv -f "$meta/reserve.part" "$meta/reserve"; }
}
clear_debris() { rm -rf "$meta"/incoming* "$meta"/*.part "$root/releases/.new"; }
control() {
  if [ "$1" = sudo ]; then sudo -n systemctl "$2" "$3"; else systemctl "$2" "$3"; fi
}
invocation() { systemctl show "$1" -p InvocationID 2> /dev/null | sed -n 's/^InvocationID=//p'; }
write_stamp() {
  printf '%s\n' "$stamp" "$hosts" > "$meta/update.json.part"
  mv -f "$meta/update.json.part" "$meta/update.json"
}
case $verb in
look)
  say current "$(readlink "$root/current" 2> /dev/null | sed 's,/*$,,; s,^.*/,,' || true)"
  say stamp "$(sed -n 1p "$meta/update.json" 2> /dev/null || true)"
  [ "$4" = brief ] || say hosts "$(sed -n 2p "$meta/update.json" 2> /dev/null || true)"
  say before "$(cat "$meta/before" 2> /dev/null || true)"
  say free "$(df -Pk "$root" 2> /dev/null | awk 'NR == 2 { print $4 }' || true)"
  systemctl show "$1" -p ActiveState,SubState,InvocationID,NRestarts 2> /dev/null || true
  [ "$2" = none ] || say answer "$(curl -sS --max-time "$3" -w '\n%{http_code}' -- "$2" 2>&1 | tail -c 8192 | base64 | tr -d '\n')"
  ;;
find)
  have=$(cat "$root/releases/$1/.conveyor-digest" 2> /dev/null || true)
  if [ -d "$root/releases/$1" ] && { [ -z "$2" ] || [ "$have" = "$2" ]; }; then say there yes; else say there no; fi
  ;;
prepare)
  lock
  clear_debris
  ;;
unpack)
  lock
  trap clear_debris EXIT
  version=$1 digest=$2
  shift 2
  have=$(sha256sum "$meta/incoming" | cut -d ' ' -f 1)
  [ "sha256:$have" = "$digest" ] || fail "the package has the digest sha256:$have, not $digest" 77
  new=$root/releases/.new
  rm -rf "$new"
  mkdir "$new"
  tar -C "$new" -xf "$meta/incoming" --no-same-owner --no-same-permissions || fail 'the package cannot be unpacked' 78
  for path; do
    mkdir -p "$(dirname "$new/$path")"
    rm -rf "$new/$path"
    ln -s "$root/shared/$path" "$new/$path"
  done
  printf '%s\n' "$digest" > "$new/.conveyor-digest"
  sync -f "$new" 2> /dev/null || true
  rm -rf "$root/releases/$version"
  rm -f "$meta/incoming"
  keep_reserve
  mv -T "$new" "$root/releases/$version"
  ;;
switch)
  lock
  clear_debris
  rm -f "$meta/reserve"
  fence "$1"
  [ -d "$root/releases/$2" ] || fail "there is no release $2 on the host" 79
  before=$(invocation "$4")
  [ -n "$before" ] || before=none
  printf '%s\n' "$before" > "$meta/before"
  write_stamp
  printf '%s\n' "$3" | tr '|' '\n' > "$meta/environment.part"
  mv -f "$meta/environment.part" "$meta/environment"
  touch "$root/releases/$2"
  rm -rf "$meta/current"
  ln -s "releases/$2" "$meta/current"
  mv -T "$meta/current" "$root/current"
  keep_reserve || rm -f "$meta/reserve.part"
  ;;
stamp)
  lock
  fence "$1"
  write_stamp
  ;;
restart)
  lock
  fence "$1"
  control "$2" restart "$3"
  ;;
prune)
  lock
  keep=$1
  current=$(readlink "$root/current" | sed 's,/*$,,; s,^.*/,,')
  ls -1t "$root/releases" | grep -vxF -e "$current" | tail -n "+$keep" | while IFS= read -r old; do rm -rf "$root/releases/$old" || say kept "$old"; done
  ;;
remove)
  lock
  fence "$1"
  control "$2" stop "$3"
  rm -f "$root/current" "$meta/update.json" "$meta/environment" "$meta/before"
  ;;
*) fail "there is no verb $verb" 64 ;;
esac
}
main "$@" < /dev/null
`;

/** The verbs of the script. */
type HostVerb = 'look' | 'find' | 'prepare' | 'unpack' | 'switch' | 'stamp' | 'restart' | 'prune' | 'remove';

/** Where the script finds an upload. */
export const locateIncoming = (root: string): string => `${root}/.conveyor/incoming`;

/** The host refused a step, with a reason for people. */
export class HostStepError extends Error {
  override readonly name = 'HostStepError';
}

const MOST_FAILURE_WORDS = 500;

/** Reads the two lines of a record, and then the program. */
const READ_PROGRAM = 'IFS= read -r stamp; IFS= read -r hosts; eval "$(cat)"';

/** Runs a verb of the script. @throws UnreachableHostError, HostStepError */
export async function runVerb(
  port: HostPort,
  verb: HostVerb,
  args: readonly string[],
  { timeoutMs, stamp }: { readonly timeoutMs: number; readonly stamp?: HostStamp },
): Promise<string> {
  const argv = ['sh', '-c', READ_PROGRAM, 'conveyor', verb, ...args];
  const result = await port.run(argv, { stdin: `${writeRecord(stamp)}${HOST_SCRIPT}`, timeoutMs });
  if (result.code !== 0) throw new HostStepError(`${verb}: ${explainFailure(result)}`);
  return result.stdout;
}

/** The first line is all that a look needs; the second has the hosts of the update, two thousand names perhaps. */
function writeRecord(stamp: HostStamp | undefined): string {
  if (stamp === undefined) return '\n\n';
  const { hosts, ...record } = stamp;
  return `${JSON.stringify(record)}\n${JSON.stringify(hosts)}\n`;
}

/** A failure in words: sudo that asks for a password and a full disk have a hint. */
function explainFailure({ code, stderr, stdout }: RunResult): string {
  const words = (stderr.trim() || stdout.trim() || `exit code ${code}`).slice(-MOST_FAILURE_WORDS).replace(/\s+/g, ' ');
  if (/sudo: (a password is required|a terminal is required|.*not (allowed|in the sudoers))/i.test(words))
    return `sudo asks for a password: permit this one command without one (docs/guides/hosts.md#permit-one-command) (${words})`;
  return explainFullDisk(words);
}

const stampSchema = z.object({
  updateId: z.string().nullable(),
  version: z.string(),
  unit: z.string(),
  sequence: z.number(),
  /** The hosts that the update chose in this unit; none if only a part of the record was read. */
  hosts: z.array(z.string()).default([]),
  /** The version of the unit, on which added hosts start, and the update that set it. */
  unitVersion: z.string(),
  unitUpdate: z.string().nullable(),
});

/** The record that each change leaves on its host: enough to restore the memory of the push type. */
export type HostStamp = z.infer<typeof stampSchema>;

/** The state of a host, as it reports it. */
export interface HostFacts {
  /** The release to which `current` leads; empty if there is none. */
  readonly current: string;
  readonly stamp: HostStamp | null;
  /** systemd's InvocationID of the service when `current` was switched; `none` if it never ran, empty if nothing was switched. */
  readonly before: string;
  readonly isActive: boolean;
  /** `active/running`. */
  readonly service: string;
  readonly invocation: string;
  readonly restarts: number;
  readonly freeKb: number | null;
  /** The answer of the health URL; null if none is configured. */
  readonly answer: { readonly status: number; readonly body: string } | null;
}

/** Reads the output of `look`; a field that is missing or malformed counts as absent, never as live. */
export function parseFacts(output: string): HostFacts {
  const fields = new Map(
    output.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)] as const;
    }),
  );
  const read = (name: string): string => fields.get(name) ?? '';
  const free = /^\d+$/.test(read('free')) ? Number(read('free')) : null;
  return {
    ...{ current: read('current'), stamp: parseStamp(read('stamp'), read('hosts')), before: read('before') },
    isActive: read('ActiveState') === 'active',
    service: `${read('ActiveState') || 'unknown'}/${read('SubState') || 'unknown'}`,
    invocation: /^[0-9a-f]{32}$/.test(read('InvocationID')) ? read('InvocationID') : '',
    restarts: Number(read('NRestarts')) || 0,
    freeKb: free,
    answer: fields.has('answer') ? parseAnswer(Buffer.from(read('answer'), 'base64').toString('utf8')) : null,
  };
}

function parseStamp(text: string, hosts: string): HostStamp | null {
  try {
    const record: unknown = JSON.parse(text);
    return stampSchema.parse(hosts === '' ? record : { ...(record as object), hosts: readHostNames(hosts) });
  } catch {
    return null; // no stamp, or one that an editor or a disk has damaged
  }
}

let lastNames: { readonly text: string; readonly hosts: unknown } = { text: '[]', hosts: [] };

/** Thousands of hosts have the same list, which is kept once. */
function readHostNames(text: string): unknown {
  if (lastNames.text !== text) lastNames = { text, hosts: JSON.parse(text) };
  return lastNames.hosts;
}

function parseAnswer(text: string): { status: number; body: string } {
  const at = text.lastIndexOf('\n');
  const status = Number(text.slice(at + 1));
  return { status: Number.isInteger(status) ? status : 0, body: text.slice(0, Math.max(0, at)) };
}
