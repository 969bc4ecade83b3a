import type { Artifact } from '../domain/artifact';
import type { Share } from '../domain/health/quality';
import type { Verdict } from '../domain/health/verdict';
import type {
  ActionState,
  ActionView,
  DependencyNow,
  DeployOutcome,
  DeployState,
  DeploySummary,
  Pause,
  PhaseState,
  PhaseView,
  ReleaseState,
  ReleaseStatus,
  ReleaseSummary,
  Undone,
} from '../domain/views';
import { tint, type Colors, type Tone, type View } from './paint';
import { ago, until } from './times';

/** Glyphs, tones and phrases shared by all renderers. */

export interface StatusSymbol {
  readonly glyph: '✔' | '✖' | '◌' | '⚠' | '◷' | '‖' | '·' | '↩';
  readonly tone: Tone;
}

const DONE_SYMBOL: StatusSymbol = { glyph: '✔', tone: 'good' };
const BROKEN_SYMBOL: StatusSymbol = { glyph: '✖', tone: 'bad' };
const WORKING_SYMBOL: StatusSymbol = { glyph: '◌', tone: 'busy' };
const DOUBTFUL_SYMBOL: StatusSymbol = { glyph: '⚠', tone: 'warn' };
const WAITING_SYMBOL: StatusSymbol = { glyph: '◷', tone: 'busy' };
export const PAUSED_SYMBOL: StatusSymbol = { glyph: '‖', tone: 'warn' };
const NOT_YET_SYMBOL: StatusSymbol = { glyph: '·', tone: 'quiet' };
export const UNDONE_SYMBOL: StatusSymbol = { glyph: '↩', tone: 'warn' };

export const RELEASE_SYMBOLS: Readonly<Record<ReleaseState, StatusSymbol>> = {
  queued: WAITING_SYMBOL,
  running: WORKING_SYMBOL,
  paused: PAUSED_SYMBOL,
  succeeded: DONE_SYMBOL,
  failed: BROKEN_SYMBOL,
  cancelled: DOUBTFUL_SYMBOL,
};

export const ACTION_SYMBOLS: Readonly<Record<ActionState, StatusSymbol>> = {
  waiting: NOT_YET_SYMBOL,
  blocked: WAITING_SYMBOL,
  running: WORKING_SYMBOL,
  succeeded: DONE_SYMBOL,
  failed: BROKEN_SYMBOL,
  cancelled: DOUBTFUL_SYMBOL,
  skipped: NOT_YET_SYMBOL,
};

const DEPLOY_SYMBOLS: Readonly<Record<Exclude<DeployState, 'ended'>, StatusSymbol>> = {
  planning: WORKING_SYMBOL,
  'waiting-lock': WAITING_SYMBOL,
  'waiting-window': WAITING_SYMBOL,
  preprocessing: WORKING_SYMBOL,
  updating: WORKING_SYMBOL,
  baking: WAITING_SYMBOL,
  postprocessing: WORKING_SYMBOL,
  reverting: UNDONE_SYMBOL,
  removing: WORKING_SYMBOL,
};

export const OUTCOME_SYMBOLS: Readonly<Record<DeployOutcome, StatusSymbol>> = {
  succeeded: DONE_SYMBOL,
  reverted: UNDONE_SYMBOL,
  failed: BROKEN_SYMBOL,
  cancelled: DOUBTFUL_SYMBOL,
  'revert-failed': BROKEN_SYMBOL,
};

const PHASE_SYMBOLS: Readonly<Record<PhaseState, StatusSymbol>> = {
  waiting: NOT_YET_SYMBOL,
  running: WORKING_SYMBOL,
  succeeded: DONE_SYMBOL,
  skipped: NOT_YET_SYMBOL,
  failed: BROKEN_SYMBOL,
  reverted: UNDONE_SYMBOL,
};

export const VERDICT_SYMBOLS: Readonly<Record<Verdict, StatusSymbol>> = {
  healthy: DONE_SYMBOL,
  inconclusive: DOUBTFUL_SYMBOL,
  errored: DOUBTFUL_SYMBOL,
  unhealthy: BROKEN_SYMBOL,
};

/** The word and sign for a deploy: its outcome once it has ended, `paused` while it is paused. */
export function deployWord(deploy: DeploySummary): { readonly word: string; readonly sign: StatusSymbol } {
  if (deploy.outcome !== null) return { word: deploy.outcome, sign: OUTCOME_SYMBOLS[deploy.outcome] };
  if (deploy.state === 'ended') return { word: 'ended', sign: DOUBTFUL_SYMBOL };
  if (deploy.paused !== null) return { word: `paused (${deploy.state})`, sign: PAUSED_SYMBOL };
  return { word: deploy.state, sign: DEPLOY_SYMBOLS[deploy.state] };
}

export const isBaking = (phase: PhaseView): boolean =>
  phase.state === 'running' && phase.updatedAt !== null && phase.bakedAt === null && phase.bakeUntil !== null;

export function phaseWord(phase: PhaseView): { readonly word: string; readonly sign: StatusSymbol } {
  if (isBaking(phase)) return { word: 'baking', sign: WAITING_SYMBOL };
  if (phase.state === 'running' && phase.updatedAt === null)
    return { word: phase.removes ? 'removing' : 'updating', sign: WORKING_SYMBOL };
  return { word: phase.state, sign: PHASE_SYMBOLS[phase.state] };
}

/** The holder of the awaited lock: the next release to look at. */
export function describeLockHolder({ heldBy }: Pick<ActionView, 'heldBy'>, time: (iso: string) => string): string {
  if (heldBy === undefined) return '';
  return `; held by ${heldBy.id}${heldBy.since === null ? '' : ` since ${time(heldBy.since)}`}`;
}

/** `██████░░░░` of a number from 0 to 1. */
export function progressBar(progress: number, colors: Colors): string {
  const filled = Math.max(0, Math.min(PROGRESS_BAR_WIDTH, Math.floor(progress * PROGRESS_BAR_WIDTH)));
  return colors.green('█'.repeat(filled)) + colors.dim('░'.repeat(PROGRESS_BAR_WIDTH - filled));
}

const PROGRESS_BAR_WIDTH = 10;

/** `executable=kv:12 source=12`. */
export const artifactWords = (artifacts: readonly Artifact[]): string =>
  artifacts.map(({ name, version }) => `${name}=${version}`).join(' ') || '–';

/** ` (superseded by 13)`; nothing without a cause. */
export function causeWords({ cause, causedBy }: Pick<ReleaseSummary, 'cause' | 'causedBy'>): string {
  if (cause === null) return '';
  return causedBy === undefined ? ` (${cause})` : ` (${cause} by ${causedBy})`;
}

/** `, rerun of #12`; nothing for any other release. */
export const rerunWords = ({ rerunOf }: Pick<ReleaseSummary, 'rerunOf'>): string =>
  rerunOf === undefined ? '' : `, rerun of #${rerunOf}`;

/** `✔ succeeded (superseded by 13), undone by #15`; once undone, with the sign of a revert. */
export function releaseWords(release: ReleaseSummary, colors: Colors): string {
  const { state, undone } = release;
  const { glyph, tone } = undone?.at == null ? RELEASE_SYMBOLS[state] : UNDONE_SYMBOL;
  return tint(colors, tone, `${glyph} ${state}`) + causeWords(release) + undoneWords(release);
}

function undoneWords({ pipeline, undone, replacedBy }: ReleaseSummary): string {
  if (undone === undefined) return replacedBy === undefined ? '' : `, replaced by ${replacedBy}`;
  const by = undone.by.replace(`${pipeline}/`, '#');
  if (undone.at !== null) return `, undone by ${by}`;
  const halted = describeHalt(undone);
  return `, ${undone.state === 'queued' ? 'to be' : 'being'} undone by ${by}${halted === undefined ? '' : `, ${halted}`}`;
}

/** Says that a rollback is not restoring anything now; undefined if it is, as far as is known. */
const describeHalt = ({ state }: Undone): string | undefined =>
  state === 'queued' ? 'which waits' : state === 'paused' ? 'which is paused' : undefined;

/** `by web/5 2m ago; v3 runs now, brought by web/5`; nothing if not undone. */
export function undoneLine(
  { undone, runsNow = [] }: Pick<ReleaseStatus, 'undone' | 'runsNow'>,
  view: View,
): readonly [string, string] | null {
  if (undone === undefined) return null;
  const { by, at } = undone;
  const when = at === null ? `, ${describeHalt(undone) ?? 'which is under way'}` : ` ${ago(at, view)}`;
  const running = runsNow.map(
    ({ action, version, by: bringer }) =>
      `${runsNow.length === 1 ? '' : `${action}: `}${version} runs now, ${bringer === null ? 'as before the first release' : `brought by ${bringer}`}`,
  );
  return ['Undone', [`by ${by}${when}`, ...running].join('; ')];
}

/** `manual by user:alice`, and the release that it undoes, reruns, or belongs to, or its reason. */
export function triggerWords(release: Pick<ReleaseSummary, 'trigger' | 'rerunOf'>): string {
  const { trigger } = release;
  const { kind, actor, of, reason, parent } = trigger;
  return [
    `${kind} by ${actor}`,
    of === undefined ? '' : kind === 'follow-on' ? `, for units that release ${of} left out` : `, undoes release ${of}`,
    rerunWords(release),
    parent === undefined ? '' : `, child of ${parent}`,
    reason === undefined ? '' : `: ${reason}`,
  ].join('');
}

/** `2 (5.0%, 1.4–16.5%)`, with `of` `2 of 40 (…)`. */
export function shareWords({ count, of, share, low, high }: Share, more: '' | 'of' = ''): string {
  const percent = (part: number): string => (part * 100).toFixed(1);
  const counted = more === 'of' ? `${count} of ${of}` : count;
  return share === null ? '–' : `${counted} (${percent(share)}%, ${percent(low)}–${percent(high)}%)`;
}

/** `0.123` → `12.3%` */
export const percent = (share: number): string => `${Number((share * 100).toFixed(1))}%`;

/** The cause, time and reason of a pause, in a sentence. */
export function pauseWords(deploy: Pick<DeploySummary, 'paused'>, view: View): string {
  const { paused } = deploy;
  if (paused === null) return '';
  const who = paused.actor === null ? `by ${paused.by}` : `by ${paused.actor}`;
  return `${who} ${ago(paused.at, view)}: ${paused.reason}`;
}

/** The present state of the dependency for which a deploy is paused, and the next step; nothing if not known. */
export function dependencyWords({ now }: Pause, view: View): string {
  if (now === undefined) return '';
  const next = now.nextAt === null ? 'retrying now' : `next try ${until(now.nextAt, view)}`;
  return answerWords(now, now.at === null ? '' : `${ago(now.at, view)}: `, next);
}

/**
 * `it answers again (10s ago: inconclusive: …); next try in 20s; the deploy continues by itself once it is healthy`.
 */
export function answerWords({ answers, said }: DependencyNow, when: string = '', next: string = ''): string {
  const [how, end] = answers ? ['it answers again', 'is healthy'] : ['still unavailable', 'answers'];
  return [`${how} (${when}${said})`, next, `the deploy continues by itself once it ${end}`]
    .filter((part) => part !== '')
    .join('; ');
}
