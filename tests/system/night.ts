import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { DoctorCheck } from '../../cli/doctor/check';
import { EXAMINED_FRESH_MS } from '../../server/routes/examination';
import { TOKEN, type Front } from './front';
import type { Env } from './process';
import type { Stack } from './stack';
import { eventually } from './waiting';

/** The report of `conveyor doctor`. */
interface Report {
  readonly code: number | null;
  /** The broken parts, by name. */
  readonly broken: Readonly<Record<string, DoctorCheck>>;
  readonly all: Readonly<Record<string, DoctorCheck>>;
}

/** The answer of a server that reaches everything it needs. */
export const READY = { status: 200, lacks: {}, metric: [] };

export const containing = (words: string): string => expect.stringContaining(words) as string;

/** The answer of `status` while no worker answers: the last known state, and the next command. */
export const lastKnown = (pipeline: string, error: string) => ({
  ...{ code: 1, error: containing(error) },
  shown: expect.stringMatching(
    new RegExp(`^No worker answers\\. Last state known to the Temporal server:[^]*${pipeline}`),
  ) as string,
  hint: containing('start one with conveyor worker'),
});

/** The observers of a broken stack: `conveyor doctor`, and the probes of its server. */
export class Night {
  private sharedUntilMs = 0;

  constructor(
    private readonly stack: Stack,
    private readonly front: () => Front,
  ) {}

  /** A machine has all that a development stack needs: only running parts can be broken. */
  async doctor(more: Env = {}): Promise<Report> {
    const cli = { TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '' };
    const { code, stdout } = await this.stack.conveyor(['doctor', '-o', 'json'], { ...cli, ...more });
    const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
    const byName = (some: readonly DoctorCheck[]) => Object.fromEntries(some.map((check) => [check.name, check]));
    return { code, broken: byName(checks.filter(({ state }) => state === 'missing')), all: byName(checks) };
  }

  /** The view of a person who reaches only a server, from an examination that began after this call. */
  async throughServer(): Promise<Report> {
    await wait(this.sharedUntilMs - Date.now());
    const report = await this.doctor(this.behindServer);
    this.sharedUntilMs = Date.now() + EXAMINED_FRESH_MS;
    return report;
  }

  /**
   * The reports from a machine that reaches Temporal and through the server, once both name exactly these parts as
   * broken; others may also be. On a busy machine a look may blame parts that are only slow.
   */
  async bothName(names: readonly string[], beside: readonly string[] = []): Promise<readonly Report[]> {
    const look = (report: () => Promise<Report>) =>
      eventually(`doctor names ${names.join()}`, async () => {
        const { broken, ...rest } = await report();
        const named = Object.keys(broken).filter((name) => !beside.includes(name));
        expect([rest.code, named.sort()]).toEqual([1, [...names].sort()]);
        return { broken, ...rest };
      });
    return Promise.all([look(() => this.doctor()), look(() => this.throughServer())]);
  }

  /** Variables of a person who reaches only a server. */
  get behindServer(): Env {
    return { CONVEYOR_SERVER: this.front().url, CONVEYOR_TOKEN: TOKEN };
  }

  /** The answer of `/readyz`: its status, the missing parts, and the metric about them. */
  async readyz() {
    const answer = await fetch(`${this.front().url}/readyz`);
    const { checks } = (await answer.json()) as { checks: { name: string; status: string; detail: string }[] };
    const unwell = checks.filter(({ status }) => status !== 'ok');
    return {
      status: answer.status,
      lacks: Object.fromEntries(unwell.map(({ name, detail }) => [name, detail])),
      metric: [...(await this.metrics()).matchAll(/^conveyor_ready\{check="(\w+)"\} 0$/gm)].map(([, check]) => check),
    };
  }

  /** Looks more than once, since a look that a busy machine delays means nothing. */
  isReady(): Promise<boolean> {
    return eventually('the server is ready', async () => isDeepStrictEqual(await this.readyz(), READY));
  }

  /** The answer of `/readyz`, once the server has noticed that it is not ready. */
  isUnready(withinMs?: number) {
    const look = async () => {
      const ready = await this.readyz();
      return ready.status === 503 && ready;
    };
    return eventually('the server is unready', look, withinMs);
  }

  /** The metrics of the server. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.front().url}/metrics`)).text();
  }

  /** The value of one series of the server, or of a worker, by its name, with all of its labels or none; NaN if there is no such series. */
  async metric(series: string, scraped: Promise<string> = this.metrics()): Promise<number> {
    const row = (await scraped)
      .split('\n')
      .find((line) => line.startsWith(`${series} `) || line.startsWith(`${series}{`));
    return Number(row?.split(' ').at(-1) ?? NaN);
  }

  /** The metrics of this stack's worker, whose address is in the variables of its processes. */
  async workerMetrics(): Promise<string> {
    return (await fetch(`http://${this.stack.env['CONVEYOR_METRICS'] ?? ''}/metrics`)).text();
  }

  /** The answer to a person who types `conveyor status`. */
  status(id: string, more: Env = {}) {
    return this.type(['status', id], more);
  }

  /** The answer to a person who holds a pipeline. */
  hold(pipeline: string, more: Env = {}) {
    return this.type(['hold', pipeline, '--reason', 'a bad night'], more);
  }

  private async type(args: readonly string[], more: Env) {
    const { code, stdout, stderr } = await this.stack.conveyor(args, more);
    const [error = '', hint = ''] = stderr.split('\n').filter((line) => !line.startsWith('note: '));
    return { code, shown: stdout, error, hint };
  }

  isWell(withinMs?: number): Promise<boolean> {
    const look = async () => {
      const { code, broken } = await this.doctor();
      if (code !== 0) throw new Error(JSON.stringify(broken));
      return true;
    };
    return eventually('all is well', look, withinMs);
  }
}
