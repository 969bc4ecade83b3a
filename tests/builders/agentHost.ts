import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PackageInstall } from '../../push-types/slowroll/protocol';
import { Agent, type AgentOptions } from '../../push-types/slowroll/agent/agent';
import { AgentHome } from '../../push-types/slowroll/agent/home';
import type { StepName } from '../../push-types/slowroll/agent/installer';
import { readAgentSecrets } from '../../push-types/slowroll/agent/settings';
import { TOKEN, type FakeManifestServer } from './manifestServer';

const PATH = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };

/** A host with the folder of an agent, and a service whose running version is the file `serving`. */
export class AgentHost {
  readonly folder: string;
  readonly home: string;
  readonly lines: string[] = [];
  readonly steps: string[] = [];
  private ids = 0;

  constructor(
    private readonly server: Pick<FakeManifestServer, 'url' | 'publicKey'>,
    readonly name = 'web-1',
    /** Where the home is; by default in its own temporary folder. */
    home?: string,
  ) {
    this.folder = mkdtempSync(join(tmpdir(), 'conveyor-agent-'));
    this.home = home ?? join(this.folder, 'home');
    mkdirSync(join(this.folder, 'etc'));
    this.write('token', `${TOKEN}\n`);
    this.write('keys.pem', server.publicKey);
  }

  /** An agent in this process, on the same folder; a second one is what a restart leaves. */
  agent(change: Partial<AgentOptions> = {}): Agent {
    return new Agent({
      ...{ server: new URL(`${this.server.url}/`), host: this.name, labels: { region: 'eu' }, allowsHttp: false },
      home: new AgentHome(this.home, this.name),
      readSecrets: () => readAgentSecrets({ token: this.file('token'), keys: this.file('keys.pem') }),
      times: { requestMs: 2_000, sliceMs: 60_000, stallMs: 1_000, spreadMs: 0 },
      ...{ chance: () => 0, log: (line: string) => void this.lines.push(line), env: PATH, ownFolder: undefined },
      makeId: () => `id-${this.name}-${(this.ids += 1)}`,
      onStep: (name: string, step: StepName) => void this.steps.push(`${name}:${step}`),
      signal: new AbortController().signal,
      ...change,
    });
  }

  /** Commands that start the version of the folder, and call it healthy unless the package has a file `bad`. */
  service(timeoutSeconds = 1): PackageInstall {
    return {
      restart: ['sh', '-c', 'cp VERSION "$1.new" && mv "$1.new" "$1"', 'restart', join(this.folder, 'serving')],
      health: ['test', '!', '-e', 'bad'],
      timeoutSeconds,
    };
  }

  /** The arguments of a real agent on the same folder. */
  flags(): readonly string[] {
    const files = ['--token-file', this.file('token'), '--keys', this.file('keys.pem')];
    return ['--manifests', this.server.url, '--host', this.name, '--home', this.home, ...files, '--spread', '0'];
  }

  file(name: string): string {
    return join(this.folder, 'etc', name);
  }

  write(name: string, text: string, mode = 0o600): void {
    rmSync(this.file(name), { force: true });
    writeFileSync(this.file(name), text, { mode });
  }

  /** The version that the service runs. */
  serving(): string {
    return readOr(join(this.folder, 'serving'));
  }

  stopServing(): void {
    rmSync(join(this.folder, 'serving'), { force: true });
  }

  /** The version to which `current` leads. */
  current(name = 'shop'): string {
    return readOr(join(this.home, 'packages', name, 'current', 'VERSION'));
  }

  releases(name = 'shop'): readonly string[] {
    return readdirSync(join(this.home, 'packages', name, 'releases')).sort();
  }

  downloads(): readonly string[] {
    const folder = join(this.home, 'downloads');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** An agent at work may remove the file at any moment. */
function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
