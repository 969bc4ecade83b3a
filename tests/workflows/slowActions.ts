import { Hono } from 'hono';
import type { Clock } from '../../activities/clock';
import type { Artifact } from '../../domain/artifact';
import type { ActionServiceProtocol } from '../../sdk/protocol/actionService';
import type { RequestOf } from '../../sdk/protocol/common';
import { ExtensionError, serveActionService } from '../../sdk/server';
import { throughFaults } from '../../simulator/httpFaults';
import type { Simulation } from '../../simulator/simulation';

/** A run of an action, from its start to its end; ms since the epoch. */
export interface SlowRun {
  readonly runId: string;
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly fails: boolean;
  readonly cancelled?: true;
  readonly with: Readonly<Record<string, unknown>>;
}

interface Running extends SlowRun {
  readonly outputs: Artifact[];
}

/**
 * An action service whose runs take as long as their inputs say, in ms of virtual time: an artifact with the metadata
 * `{ build: '600000' }` makes the action `build` take ten minutes; one with `{ fails: 'build,test' }` makes those fail.
 * `with.takesMs` is for actions without inputs, and `with.fails` makes that many first attempts fail. While it is
 * `down` it does not answer, and while it `refuses` it rejects every call; HTTP faults of the simulated world apply to
 * it as well. It makes the outputs that the action declares, in the version of its first input.
 */
export class SlowActions {
  private readonly known = new Map<string, Running>();
  down = false;
  refuses = false;
  /** Actions whose runs fail from now on. */
  readonly broken = new Set<string>();

  constructor(
    private readonly clock: Clock,
    private readonly simulation: Simulation,
  ) {}

  get runs(): readonly SlowRun[] {
    return [...this.known.values()];
  }

  get app(): Hono {
    const service = serveActionService('slow', {
      startRun: async (request) => {
        this.answer();
        if (!this.known.has(request.runId))
          this.known.set(request.runId, begin(request, await this.clock.now(), this.broken));
        return { runId: request.runId };
      },
      getRunProgress: async ({ runId }) => {
        this.answer();
        const run = this.known.get(runId);
        if (run === undefined || (await this.clock.now()) < run.toMs) return { state: 'running', message: 'working' };
        return run.fails
          ? { state: 'failed', message: run.cancelled ? 'cancelled' : 'it does not work' }
          : { state: 'succeeded', outputs: run.outputs };
      },
      cancelRun: async ({ runId }) => {
        this.answer();
        const run = this.known.get(runId);
        const toMs = await this.clock.now();
        if (run && toMs < run.toMs) this.known.set(runId, { ...run, toMs, fails: true, cancelled: true });
        return {};
      },
    });
    const inner = new Hono().route('/slow', service);
    return new Hono().all('/slow/*', (c) => throughFaults(this.simulation, inner, c, this.clock.sleep));
  }

  private answer(): void {
    if (this.down) throw new ExtensionError('down', 'it is down', { retryable: true });
    if (this.refuses) throw new ExtensionError('forbidden', 'nobody knows it', { status: 403 });
  }
}

function begin(
  request: RequestOf<ActionServiceProtocol['startRun']>,
  fromMs: number,
  broken: ReadonlySet<string>,
): Running {
  const { runId, pipeline, release, action, attempt, inputs, with: wanted } = request;
  const told = inputs.map(({ metadata }) => metadata[action]).find((ms) => ms !== undefined);
  const toMs = fromMs + Number(told ?? wanted['takesMs'] ?? 0);
  const isToFail = inputs.some(({ metadata }) => (metadata['fails'] ?? '').split(',').includes(action));
  const fails = isToFail || broken.has(action) || attempt <= Number(wanted['fails'] ?? 0);
  const names = Array.isArray(wanted['outputs']) ? wanted['outputs'].map(String) : [];
  const { version = '0', metadata = {} } = inputs[0] ?? {};
  const outputs = names.map((name) => ({ name, kind: name, version, metadata }));
  return { runId, pipeline, release, action, fromMs, toMs, fails, with: wanted, outputs };
}
