import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../../cli/stack/ports';
import { ROOT } from '../setup/sources';
import { eventually } from '../system/waiting';

/** Where the programs of PostgreSQL are; without them the tests that need it are skipped, and say so. */
const folder = ((): string | undefined => {
  const found = spawnSync('bash', [join(ROOT, 'scripts/postgres.sh'), '--print-path'], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : undefined;
})();

/** `describe` with a server for its tests where there is PostgreSQL, else a skip with its reason. */
export function describeWithPostgres(name: string, tests: (server: PostgresServer) => void): void {
  const server = new PostgresServer();
  if (folder === undefined) {
    process.stderr.write(`skipped, since there is no PostgreSQL here (scripts/postgres.sh gets it): ${name}\n`);
    return describe.skip(name, () => tests(server));
  }
  describe(name, () => {
    beforeAll(() => server.open(), 60_000);
    afterAll(() => server.close());
    tests(server);
  });
}

/** PostgreSQL refuses to run as root: then a user without permissions runs it. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/** A server on a port of its own; what it holds outlives its process. */
class PostgresServer {
  private data = '';
  private port = 0;
  private running: ChildProcess | undefined;

  async open(): Promise<void> {
    [this.port = 0] = await freePorts(1);
    this.data = mkdtempSync(join(tmpdir(), 'conveyor-postgres-'));
    this.initialise();
    await this.start();
  }

  get url(): string {
    return `postgres://conveyor:secret@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    const args = ['-D', this.data, '-p', String(this.port), '-h', '127.0.0.1', '-k', '', '-F'];
    this.running = spawn(join(folder ?? '', 'postgres'), args, { stdio: 'ignore', ...NOBODY });
    await eventually('PostgreSQL answers', async () => {
      const client = new Client({ connectionString: this.url });
      client.on('error', () => undefined);
      return client.connect().then(
        () => client.end().then(() => true),
        () => false,
      );
    });
  }

  /** At once, despite open connections. */
  async kill(): Promise<void> {
    const { running } = this;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    // Its immediate shutdown, as after a loss of power; −9 would leave its children behind.
    running.kill('SIGQUIT');
    await ended;
  }

  /** Runs one statement as the owner. */
  async query(sql: string): Promise<void> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  /** Keeps a transaction open that ran a statement, until it is released. */
  async hold(sql: string): Promise<() => Promise<void>> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    await client.query(`begin; ${sql}`);
    return () => client.end();
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }

  private initialise(): void {
    chmodSync(this.data, 0o700);
    if (NOBODY) chownSync(this.data, NOBODY.uid, NOBODY.gid);
    const args = ['-D', this.data, '-U', 'conveyor', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    const made = spawnSync(join(folder ?? '', 'initdb'), args, { encoding: 'utf8', cwd: tmpdir(), ...NOBODY });
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  }
}
