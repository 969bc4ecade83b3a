import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readLinkTarget, switchLink, flushFolder, writeDurably } from './disk';
import { AGENT_PACKAGE, agentStateSchema, emptyAgentState, type AgentState } from './state';

/** The file that starts an agent within its package and at the top of its folder. */
export const AGENT_FILE = 'conveyor-agent.js';

/** The folder of an agent: `state.json`, `downloads/`, and for each package `releases/` and the link `current`. */
export class AgentHome {
  /** The state that counts. It is newer than the file only while the disk is full. */
  private present: AgentState;
  private isDirty = false;

  /** @throws Error if the state cannot be read: to begin anew would forget which manifests are old */
  constructor(
    readonly folder: string,
    host: string,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    mkdirSync(this.downloads, { recursive: true, mode: 0o700 });
    this.present = readState(this.stateFile, host);
  }

  get state(): AgentState {
    return this.present;
  }

  get downloads(): string {
    return join(this.folder, 'downloads');
  }

  get stateFile(): string {
    return join(this.folder, 'state.json');
  }

  /** Keeps a state before something is done that relies on it. @throws the error of the disk; the state stays */
  save(next: AgentState): void {
    writeDurably(this.stateFile, serialize(next));
    [this.present, this.isDirty] = [next, false];
  }

  /** Keeps the result of something that was done. On a full disk it is kept in memory until `flush`: a result must not be repeated for want of a few bytes. */
  note(next: AgentState): void {
    [this.present, this.isDirty] = [next, true];
    try {
      this.flush();
    } catch {
      // `flush` is called again before the next work.
    }
  }

  /** @throws the error of the disk */
  flush(): void {
    if (this.isDirty) this.save(this.present);
  }

  packageFolder(name: string): string {
    return join(this.folder, 'packages', name);
  }

  releases(name: string): string {
    return join(this.packageFolder(name), 'releases');
  }

  release(name: string, folder: string): string {
    return join(this.releases(name), folder);
  }

  /** Makes the folders of a package. */
  prepare(name: string): void {
    mkdirSync(this.releases(name), { recursive: true, mode: 0o755 });
  }

  /** The folder to which `current` leads; null if there is no such link. */
  current(name: string): string | null {
    const target = readLinkTarget(join(this.packageFolder(name), 'current'));
    return target === null ? null : basename(target);
  }

  /** Lets `current` lead to a release. */
  switchTo(name: string, folder: string): void {
    switchLink(join(this.packageFolder(name), 'current'), join('releases', folder));
  }

  /** Prepares the way back: on a full disk there may be no room for a new link. */
  prepareBack(name: string, folder: string | null): void {
    if (folder !== null) switchLink(this.backLink(name), join('releases', folder));
  }

  /** Lets `current` lead to the folder of before, or removes it if there was none. */
  switchBack(name: string, folder: string | null): void {
    const link = join(this.packageFolder(name), 'current');
    if (folder === null) rmSync(link, { force: true });
    else if (this.current(name) === folder) return;
    else if (readLinkTarget(this.backLink(name)) === join('releases', folder)) renameSync(this.backLink(name), link);
    else return this.switchTo(name, folder);
    flushFolder(this.packageFolder(name));
  }

  /** Takes `current` away, so that no service finds the package any more. */
  unlink(name: string): void {
    rmSync(join(this.packageFolder(name), 'current'), { force: true });
    if (existsSync(this.packageFolder(name))) flushFolder(this.packageFolder(name));
  }

  /** Removes a package to which `current` no longer leads. */
  delete(name: string): void {
    rmSync(this.packageFolder(name), { recursive: true, force: true });
    if (existsSync(join(this.folder, 'packages'))) flushFolder(join(this.folder, 'packages'));
  }

  private backLink(name: string): string {
    return join(this.packageFolder(name), 'back');
  }

  /** The program that the next start of the machine runs leads to a release of the agent that has proved itself. */
  promote(folder: string): void {
    switchLink(join(this.folder, AGENT_FILE), join('packages', AGENT_PACKAGE, 'releases', folder, AGENT_FILE));
  }
}

const serialize = (state: AgentState): string => `${JSON.stringify(state, null, 1)}\n`;

function readState(file: string, host: string): AgentState {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return emptyAgentState(host);
    throw error;
  }
  const state = agentStateSchema.safeParse(parseStateText(text));
  if (!state.success)
    throw new Error(`${file} is damaged: restore it, or remove it and read docs/guides/agent.md#the-state-is-lost`);
  if (state.data.host !== host)
    throw new Error(
      `${file} belongs to the host ${state.data.host}, not ${host}: start with --host ${state.data.host}, or in another folder`,
    );
  return state.data;
}

function parseStateText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
