import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readlinkSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { GUARANTEES, isGuarantee, type Guarantee } from '../domain/isolation';
import { rootCause } from '../domain/rootCause';
import { installRoot } from '../settings/registry';
import type { Scripts } from '../settings/scripts';
import { MEMORY_HOGS, GLUTTON, INTRUDER, markerIn } from './canary';
import { CONTROLLERS, makeRoom, type CgroupRoot } from './cgroup';
import { methodsFor, NO_ISOLATION, systemPath, thisMachine, type Machine, type IsolationMethod } from './method';
import { isWithin, placesFor } from './places';
import { processesWith, stopGroup } from './processGroup';
import { startScript, type Listener, type ScriptExit } from './scriptProcess';
import { closeWorkplace, openWorkplace } from './workplace';

/** The guarantees that a machine can give about scripts. */
export interface Isolation {
  readonly method: IsolationMethod;
  readonly missing: readonly Guarantee[];
  /** Why better methods do not work here, one line each. */
  readonly refused: readonly string[];
  /** Why scripts get no control group here, if known. */
  readonly ungrouped?: string;
}

/** Chooses the folders that a script sees. */
type PlaceScript = typeof placesFor;
type ProbeScripts = Scripts & { readonly place: PlaceScript };

/** Tests this machine with scripts that try forbidden things, using the best method with which they start. */
export async function probe(
  given: Scripts,
  machine: Machine = thisMachine(given),
  place: PlaceScript = placesFor,
): Promise<Isolation> {
  const scripts = { ...given, place };
  const refused: string[] = [];
  const { room, ...why } = roomOn(machine);
  const methods = methodsFor(machine, room);
  for (const method of methods) {
    try {
      return { method, missing: await findMissingGuarantees(method, scripts, machine), refused, ...why };
    } catch (error) {
      refused.push(rootCause(error));
    }
  }
  return { method: NO_ISOLATION, missing: ALL_GUARANTEES, refused, ...why };
}

function roomOn({ cgroup, tools }: Machine): { readonly room: CgroupRoot | null } & Pick<Isolation, 'ungrouped'> {
  if (cgroup === null) return { room: null, ungrouped: 'there is no cgroup v2' };
  if (tools === null) return { room: null };
  try {
    const room = makeRoom(cgroup);
    const lacking = CONTROLLERS.filter((name) => !room.controllers.includes(name));
    return lacking.length === 0 ? { room } : { room, ungrouped: `${room.folder} has no ${lacking.join(', ')}` };
  } catch (error) {
    return { room: null, ungrouped: rootCause(error) };
  }
}

const ALL_GUARANTEES = Object.keys(GUARANTEES).filter(isGuarantee);

async function findMissingGuarantees(
  method: IsolationMethod,
  scripts: ProbeScripts,
  { platform, uid }: Machine,
): Promise<readonly Guarantee[]> {
  if (platform !== 'linux') return ALL_GUARANTEES;
  // Root has more ways out than can be tested.
  const isHopeless = uid === 0 && method.account === null;
  const tried = [
    await intrusions(method, scripts),
    await excesses(method, scripts),
    await probeJointLimits(method, scripts),
  ];
  const breaches = new Set(tried.flat());
  return ALL_GUARANTEES.filter((name) => isHopeless || breaches.has(name));
}

/** The forbidden things that a script could read, write, reach or leave behind. */
async function intrusions(method: IsolationMethod, scripts: ProbeScripts): Promise<Guarantee[]> {
  const nonce = String(randomInt(1e9, 1e10));
  const folders = foldersToKeep(scripts);
  const decoy = spawn('sleep', ['60'], {
    env: { PATH: systemPath(scripts.path), CANARY_NONCE: nonce },
    stdio: 'ignore',
  });
  decoy.once('error', () => undefined);
  try {
    const facts = [nonce, readLinkOrEmpty('/proc/self/ns/net'), method.groups?.folder ?? ''];
    const { words } = await run(method, scripts, [INTRUDER, 'canary', ...facts, ...folders]);
    const written = folders.map((folder) => markerIn(folder, nonce)).filter((file) => existsSync(file));
    for (const file of written) rmSync(file, { force: true });
    const left = processesWith(`canary-left-${nonce}`);
    await Promise.all(left.map((group) => stopGroup(group, 0)));
    // A guarantee that could not be tested is not given.
    if (words.includes('untried')) return [...ALL_GUARANTEES];
    const leftovers = left.length > 0 || !words.includes('left') ? ['leftovers'] : [];
    return [...words, ...leftovers, ...(written.length > 0 ? ['files'] : [])].filter(isGuarantee);
  } finally {
    killChild(decoy);
  }
}

/** The resource limits that a script could exceed. */
async function excesses(method: IsolationMethod, scripts: ProbeScripts): Promise<Guarantee[]> {
  const limits = { ...scripts.limits, memoryBytes: 64 * 1_048_576, processes: 32 };
  return (await run(method, { ...scripts, limits }, [GLUTTON, 'canary'])).words.filter(isGuarantee);
}

/**
 * The joint limits that its processes could exceed. Only memory is tested: the kernel either accepts or refuses the
 * other limits.
 */
async function probeJointLimits(method: IsolationMethod, scripts: ProbeScripts): Promise<Guarantee[]> {
  const { groups } = method;
  if (!CONTROLLERS.every((name) => groups?.controllers.includes(name))) return ['total'];
  const limits = { ...scripts.limits, totalMemoryBytes: 64 * 1_048_576 };
  const { words, exit } = await run(method, { ...scripts, limits }, [MEMORY_HOGS, 'canary', groups?.folder ?? '']);
  return words.includes('began') && !words.includes('total') && exit.signal === 'SIGKILL' ? [] : ['total'];
}

function foldersToKeep({ directory, file, writable }: Scripts): readonly string[] {
  const all = [directory, join(installRoot(), 'dist'), dirname(file), tmpdir(), '/var/tmp', homedir()];
  const isOpen = (folder: string): boolean => writable.some((it) => isWithin(folder, it));
  return [...new Set(all)].filter((folder) => existsSync(folder) && !isOpen(folder));
}

/** The wait for an escaped process that still holds the output. */
const PROBE_GRACE_MS = 1_000;

/** The words that a canary prints, and its exit. */
async function run(
  method: IsolationMethod,
  scripts: ProbeScripts,
  [program = '', ...args]: readonly string[],
): Promise<{ readonly words: string[]; readonly exit: ScriptExit }> {
  const workplace = openWorkplace('probe', { CANARY_SECRET: '' }, { account: null, namespaces: method.namespaces });
  const output = new Words();
  try {
    const { directory, limits, network } = scripts;
    const script = await startScript(method, {
      ...{ runId: 'probe', command: ['/bin/sh', '-c', program, ...args], directory, limits, network },
      places: scripts.place(scripts, { ...workplace, account: method.account }),
      ...{ env: { PATH: systemPath(scripts.path), ...workplace.env }, outputLimitBytes: 65_536, log: output },
    });
    const exit = await script.ended;
    await stopGroup(script.group, 0);
    await script.endAll();
    await Promise.race([script.silent, wait(PROBE_GRACE_MS, undefined, { ref: false })]);
    return { words: output.all(), exit };
  } finally {
    closeWorkplace(workplace);
  }
}

class Words implements Listener {
  private text = '';
  listen = () => (text: string) => void (this.text += text);
  all = (): string[] => this.text.split(/\s+/);
}

function readLinkOrEmpty(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function killChild(child: ChildProcess): void {
  child.kill('SIGKILL');
}
