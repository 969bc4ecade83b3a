import type { Hono } from 'hono';
import type { Artifact } from '../../domain/artifact';
import type { RequestOf } from '../../sdk/protocol/common';
import type { ActionServiceProtocol } from '../../sdk/protocol/actionService';
import { ExtensionError, serveActionService } from '../../sdk/server';
import { hashText, noise } from '../kernel/random';
import type { Simulation } from '../simulation';
import type { Run } from '../state';

export type StartRun = RequestOf<ActionServiceProtocol['startRun']>;

/** How a run will go: decided when it starts, from its request and the behaviour of the versions in it. */
export interface Outcome {
  readonly outputs: readonly Artifact[];
  readonly failure: string | null;
  readonly tag?: string;
}

const SHORTEST_MS = 2000;
const LONGEST_MS = 6000;

/** An action service of the simulator: runs take a few simulated seconds and end as `decide` says. Throw there to refuse a run. */
export function actionService(simulation: Simulation, service: string, decide: (request: StartRun) => Outcome): Hono {
  const find = (id: string): Run => {
    const run = simulation.state.runs.get(`${service} ${id}`);
    if (run) return run;
    throw new ExtensionError('unknown-run', `runId: no run ${id}`, { status: 404 });
  };
  return serveActionService(service, {
    startRun: (request, call) =>
      simulation.once(service, 'startRun', request, call, () => {
        const answer = { runId: request.runId };
        if (simulation.state.runs.has(`${service} ${request.runId}`)) return { answer, effect: false };
        begin(simulation, service, request.runId, decide(request));
        return { answer, effect: true };
      }),
    getRunProgress: ({ runId }) => progress(find(runId), simulation.world.now),
    cancelRun: ({ runId }, call) =>
      simulation.once(service, 'cancelRun', { runId }, call, () => {
        const run = simulation.state.runs.get(`${service} ${runId}`);
        const effect = run?.state === 'running';
        if (run && effect) Object.assign(run, { state: 'failed', message: 'cancelled' });
        return { answer: {}, effect };
      }),
  });
}

/** The names that Conveyor wants outputs under; `fallback` when it did not say. */
export function outputNames(request: StartRun, fallback: readonly string[]): string[] {
  const { outputs } = request.with;
  return Array.isArray(outputs) ? outputs.map(String) : [...fallback];
}

function begin(simulation: Simulation, service: string, runId: string, { outputs, failure, tag }: Outcome): void {
  const { world } = simulation;
  const id = `${service} ${runId}`;
  const share = noise(world.kernel.seed, hashText(id), 0, 0);
  const endsAt = world.now + world.scaled(SHORTEST_MS + (LONGEST_MS - SHORTEST_MS) * share);
  const end = { outputs, failure, tag: tag ?? null };
  simulation.state.runs.set(id, {
    id,
    service,
    startedAt: world.now,
    endsAt,
    state: 'running',
    message: 'running',
    ...end,
  });
  world.at(endsAt, { kind: 'run-ended', run: id });
}

function progress(run: Run, now: number) {
  const { state, message } = run;
  if (state === 'succeeded')
    return { state, message, progress: 1, outputs: run.outputs.map((output) => ({ ...output })) };
  if (state === 'failed') return { state, message };
  return { state, message, progress: Math.min(1, (now - run.startedAt) / Math.max(1, run.endsAt - run.startedAt)) };
}
