import { computeTotals } from '../deploy/counts';
import { estimate, type PhaseLength, type UpdateWindow } from '../deploy/estimate';
import { meanUpdateMs } from '../deploy/pastUpdates';
import type { DeployStatus, PhaseView } from '../views';

/** How far a deploy is, and when it will be everywhere. */

type WhereProgress = Pick<DeployStatus, 'state' | 'outcome' | 'planned' | 'phases'>;

/** The share of the tasks that runs its version, from 0 to 1; null if it is not known, as in a revert or after a cancel. */
export function computeLiveShare({ state, outcome, planned, phases }: WhereProgress): number | null {
  if (outcome === 'succeeded') return 1;
  if (outcome === 'reverted') return 0;
  if (planned === undefined || state === 'ended' || state === 'reverting' || phases.some(({ removes }) => removes))
    return null;
  const before = phases.map((phase, index) => (phase.updatedAt === null ? 0 : (planned.phases[index]?.share ?? 0)));
  const reached = Math.max(0, ...before);
  const now = phases.findIndex(isUpdating);
  const phase = phases[now];
  const { targeted, live } = phase === undefined ? { targeted: 0, live: 0 } : computeTotals(phase);
  const next = planned.phases[now]?.share ?? reached;
  return targeted === 0 ? reached : reached + Math.max(0, next - reached) * Math.min(1, live / targeted);
}

const isUpdating = (phase: PhaseView): boolean => phase.state === 'running' && phase.updatedAt === null;

/** The phase under way, counted from 1. */
export function findPhaseUnderWay({
  phases,
}: Pick<WhereProgress, 'phases'>): { n: number; of: number; name: string } | null {
  const phase = phases.find(({ state }) => state === 'running');
  return phase === undefined ? null : { n: phase.index + 1, of: phases.length, name: phase.name };
}

type Expected = WhereProgress & Pick<DeployStatus, 'paused' | 'pausedGroups' | 'spans'>;

const ADVANCES: readonly DeployStatus['state'][] = [
  'waiting-window',
  'preprocessing',
  'updating',
  'baking',
  'postprocessing',
];

interface Basis {
  readonly nowMs: number;
  readonly window: UpdateWindow | undefined;
  /** The duration of the updates of a phase in earlier deploys; null if it is not known. */
  readonly pastUpdateMs: number | null;
}

/**
 * When the last task will run its version if all goes well, ms since the epoch. Null if that is not known: it has no plan yet, is paused, or no
 * phase has shown how long updates take. Steps before and after phases are not counted.
 */
export function expectEverywhere(deploy: Expected, { nowMs, window, pastUpdateMs }: Basis): number | null {
  const { state, planned, phases, paused, pausedGroups = [] } = deploy;
  const last = phases.at(-1);
  if (planned === undefined || last === undefined || last.removes) return null;
  if (last.updatedAt !== null) return Date.parse(last.updatedAt);
  if (paused !== null || pausedGroups.length > 0 || !ADVANCES.includes(state)) return null;
  const updateMs = meanUpdateMs([deploy]) ?? pastUpdateMs;
  if (updateMs === null) return null;
  const lengths = phases.map((phase, index): PhaseLength => {
    const share = planned.phases[index]?.share ?? 1;
    const isIdle = share <= (planned.phases[index - 1]?.share ?? 0);
    return isIdle ? { updateMs: 0, bakeMs: 0 } : { updateMs, bakeMs: planned.phases[index]?.bakeMs ?? 0 };
  });
  const { startMs, from, first } = findContinuation(phases, lengths, nowMs, window);
  const rest = lengths.slice(from).map((length, index) => (index === 0 ? { ...length, ...first } : length));
  const hasBegun = phases.some(({ startedAt }) => startedAt !== null);
  return (
    estimate(rest, startMs, hasBegun && window?.onClose === 'finish' ? undefined : window).at(-1)?.updatedAtMs ?? null
  );
}

interface Continuation {
  /** The time at which the phase `from` may begin or continue. */
  readonly startMs: number;
  readonly from: number;
  /** The rest of its updates. */
  readonly first: Partial<PhaseLength>;
}

function findContinuation(
  phases: readonly PhaseView[],
  lengths: readonly PhaseLength[],
  nowMs: number,
  window: UpdateWindow | undefined,
): Continuation {
  const running = phases.findIndex(({ state }) => state === 'running');
  const phase = phases[running];
  const waiting = phases.findIndex(({ state }) => state === 'waiting');
  if (phase === undefined) return { startMs: nowMs, from: waiting === -1 ? phases.length : waiting, first: {} };
  const { updateMs, bakeMs } = lengths[running] ?? { updateMs: 0, bakeMs: 0 };
  if (phase.updatedAt !== null) {
    const until = phase.bakedAt !== null ? nowMs : Date.parse(phase.bakeUntil ?? phase.updatedAt);
    return { startMs: Math.max(nowMs, until), from: running + 1, first: {} };
  }
  const leftMs = phase.startedAt === null ? updateMs : Math.max(0, updateMs - (nowMs - Date.parse(phase.startedAt)));
  const mayFinish = window !== undefined && window.onClose !== 'pause' && phase.startedAt !== null;
  // A phase under way finishes after closing; only the next one waits for the window.
  return mayFinish && running + 1 < phases.length
    ? { startMs: nowMs + leftMs + bakeMs, from: running + 1, first: {} }
    : { startMs: nowMs, from: running, first: { updateMs: leftMs } };
}
