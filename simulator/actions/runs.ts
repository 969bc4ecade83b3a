import type { Hono } from 'hono';
import { z } from 'zod';
import type { Artifact } from '../../domain/artifact';
import type { ActionServiceProtocol } from '../../sdk/protocol/actionService';
import type { RequestOf, ResponseOf } from '../../sdk/protocol/common';
import { ExtensionError, serveActionService } from '../../sdk/server';
import { parseInput } from '../controlInput';
import { hashText, noise } from '../kernel/random';
import type { Simulation } from '../simulation';
import type { Run } from '../state';

export type StartRun = RequestOf<ActionServiceProtocol['startRun']>;

/** The outcome of a run: decided when it starts, from its request and the behaviour of its versions. */
export interface RunOutcome {
  readonly outputs: readonly Artifact[];
  /** Why it will fail; null if it succeeds. */
  readonly failure: string | null;
  readonly tag?: string;
  /** Its steps, in order: shown while it runs. */
  readonly steps?: readonly string[];
  /** Its message after a success. */
  readonly said?: string;
}

/** The result of one look at a run that watches the world: it continues, or it has ended. */
export type Sight =
  | { readonly kind: 'going'; readonly progress: number; readonly message: string }
  | { readonly kind: 'succeeded'; readonly message: string; readonly outputs: readonly Artifact[] }
  | { readonly kind: 'failed'; readonly message: string };

const SHORTEST_MS = 2000;
const LONGEST_MS = 6000;

/** An action service of the simulator: runs take a few simulated seconds and end as `decide` determines. `decide` throws to refuse a run. */
export const runService = (simulation: Simulation, service: string, decide: (request: StartRun) => RunOutcome): Hono =>
  serveRuns(simulation, service, {
    begin: (request, id) => createDecidedRun(simulation, service, id, request, decide(request)),
    look: (run) => {
      const share = (simulation.world.now - run.startedAt) / Math.max(1, run.endsAt - run.startedAt);
      const message = run.steps[Math.floor(share * run.steps.length)] ?? run.steps.at(-1) ?? 'running';
      return { kind: 'going', progress: Math.min(1, share), message };
    },
  });

/**
 * As `runService`, for runs whose end depends on the world: every question for progress calls `look`. Its answer about
 * a past moment must never change. `check` may throw to refuse a run.
 */
export const watchService = (
  simulation: Simulation,
  service: string,
  watch: {
    readonly check: (request: StartRun) => void;
    readonly look: (request: StartRun, startedAt: number) => Sight;
  },
): Hono =>
  serveRuns(simulation, service, {
    begin: (request, id) => {
      watch.check(request);
      return { ...newRun(simulation, service, id, request), endsAt: Infinity };
    },
    look: (run) => watch.look(run.request, run.startedAt),
  });

/** The `with` of a run, parsed for its service; refuses the run and names each wrong field. */
export const runOptions = <S extends z.ZodType>(schema: S, request: StartRun): z.output<S> =>
  (parseInput(z.object({ with: schema }), { with: request.with }) as { with: z.output<S> }).with;

/** The output names that Conveyor asks for; `fallback` if the request names none. */
export function outputNames(request: StartRun, fallback: readonly string[]): string[] {
  const { outputs } = request.with;
  return Array.isArray(outputs) ? outputs.map(String) : [...fallback];
}

interface RunHandlers {
  readonly begin: (request: StartRun, id: string) => Run;
  readonly look: (run: Run) => Sight;
}

function serveRuns(simulation: Simulation, service: string, { begin, look }: RunHandlers): Hono {
  const keyOf = (runId: string): string => `${service} ${runId}`;
  const find = (runId: string): Run => {
    const run = simulation.state.runs.get(keyOf(runId));
    if (run) return run;
    throw new ExtensionError('unknown-run', `runId: no run ${runId}`, { status: 404 });
  };
  const app = serveActionService(service, {
    // The callback is not part of the request's identity: it may differ when the request is repeated.
    startRun: ({ callback, ...request }, call) =>
      simulation.once(service, 'startRun', request, call, () => {
        const answer = { runId: request.runId };
        const id = keyOf(request.runId);
        if (simulation.state.runs.has(id)) return { answer, effect: false };
        const run = begin(request, id);
        simulation.state.runs.set(id, run);
        if (callback && run.endsAt < Infinity) simulation.callbacks.push({ at: run.endsAt, callback });
        return { answer, effect: true };
      }),
    getRunProgress: ({ runId }) => ({ ...progress(find(runId), look), ...linkTo(simulation, service, runId) }),
    cancelRun: ({ runId }, call) =>
      simulation.once(service, 'cancelRun', { runId }, call, () => {
        const run = simulation.state.runs.get(keyOf(runId));
        const effect = run?.state === 'running';
        if (run && effect) Object.assign(run, { state: 'failed', message: 'cancelled' });
        return { answer: {}, effect };
      }),
  });
  // The page behind `url`: the progress of the run so far, for people.
  app.get('/runs/:id{.+}', (c) => c.text(runLog(find(c.req.param('id')), look)));
  return app;
}

function newRun(simulation: Simulation, service: string, id: string, request: StartRun): Omit<Run, 'endsAt'> {
  return {
    ...{ id, service, request, startedAt: simulation.world.now },
    ...{ state: 'running', message: 'running', steps: [], said: 'done', outputs: [], failure: null, tag: null },
  };
}

function createDecidedRun(
  simulation: Simulation,
  service: string,
  id: string,
  request: StartRun,
  outcome: RunOutcome,
): Run {
  const { world } = simulation;
  const share = noise(world.kernel.seed, hashText(id), 0, 0);
  const endsAt = world.now + world.scaled(SHORTEST_MS + (LONGEST_MS - SHORTEST_MS) * share);
  world.at(endsAt, { kind: 'run-ended', run: id });
  return { ...newRun(simulation, service, id, request), endsAt, ...outcome, tag: outcome.tag ?? null };
}

function progress(run: Run, look: RunHandlers['look']): ResponseOf<ActionServiceProtocol['getRunProgress']> {
  const sight = run.state === 'running' ? look(run) : undefined;
  if (sight?.kind === 'going') return { state: 'running', message: sight.message, progress: sight.progress };
  if (sight !== undefined) endRun(run, sight);
  const { message } = run;
  if (run.state !== 'succeeded') return { state: 'failed', message };
  return {
    state: 'succeeded',
    message,
    progress: 1,
    outputs: run.outputs.map((output) => ({ ...output, metadata: { ...output.metadata } })),
  };
}

function endRun(run: Run, { kind, message, ...rest }: Exclude<Sight, { kind: 'going' }>): void {
  Object.assign(run, { state: kind, message, ...rest });
}

const linkTo = ({ url }: Simulation, service: string, runId: string): { url?: string } =>
  url === null ? {} : { url: `${url}/actions/${service}/runs/${runId}` };

function runLog(run: Run, look: RunHandlers['look']): string {
  const seen = progress(run, look);
  const done = Math.ceil((seen.state === 'running' ? (seen.progress ?? 0) : 1) * run.steps.length);
  return `${[run.id, ...run.steps.slice(0, done), `${seen.state}: ${seen.message}`].join('\n')}\n`;
}
