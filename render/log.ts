import type { WatchSnapshot } from '../client/snapshot';
import type { DeployStatus, HealthRow, ReleaseStatus, WaitView } from '../domain/views';
import { approvalWords } from '../domain/release/approval';
import {
  findGivenReasons,
  listRepeatedReasons,
  withoutDeployEnds,
  withoutOwnEnd,
  withoutReason,
} from './repeatedReasons';
import { localTimes, truncateToSeconds } from './times';
import {
  ACTION_SYMBOLS,
  answerWords,
  causeWords,
  deployWord,
  describeLockHolder,
  PAUSED_SYMBOL,
  RELEASE_SYMBOLS,
  VERDICT_SYMBOLS,
} from './words';

/**
 * Changes between two snapshots, as lines to append: for CI logs, in which nothing can be redrawn. Without a change
 * there are no lines. Without an earlier snapshot, everything so far is printed.
 */
export function logLines(before: WatchSnapshot | null, after: WatchSnapshot): string[] {
  const lines = [
    ...(after.release === null ? [] : releaseLogLines(before?.release ?? null, after.release, after.deploys)),
    ...(after.release === null ? [] : formatQueuedLines(before?.waits ?? [], after.waits, after.release)),
    ...after.deploys.flatMap((deploy) =>
      deployLogLines(before?.deploys.find((one) => one.id === deploy.id) ?? null, deploy),
    ),
  ];
  return withReasonsOnce(
    before,
    after,
    lines.sort((a, b) => a.at.localeCompare(b.at)),
  ).map(({ at, text }) => `${truncateToSeconds(at)}  ${localTimes(text, truncateToSeconds)}`.trim());
}

interface LogLine {
  readonly at: string;
  readonly text: string;
}

/** Keeps each reason in the first line that has it, and removes it from later ones. */
function withReasonsOnce(before: WatchSnapshot | null, after: WatchSnapshot, lines: readonly LogLine[]): LogLine[] {
  const reasons = after.deploys.flatMap(listRepeatedReasons);
  const logged = [before?.release ?? [], before?.deploys ?? []].flat().flatMap(({ timeline }) => timeline);
  const above = [...logged, ...lines].map(({ text }) => text);
  return lines.map(({ at, text }, index) => ({
    at,
    text: withoutReason(text, findGivenReasons(reasons, above.slice(0, logged.length + index))),
  }));
}

/** Lines that the timeline lacks: an action's waits, and its end. */
function releaseLogLines(
  before: ReleaseStatus | null,
  after: ReleaseStatus,
  deploys: readonly DeployStatus[],
): LogLine[] {
  const last = findLatestTime(after);
  const lines = newEntries(before, { ...after, timeline: withoutDeployEnds(after, deploys) });
  for (const action of after.actions.filter(({ state, pickBy }) => state === 'blocked' && pickBy === null)) {
    const was = before?.actions.find((one) => one.name === action.name);
    if (was?.state === 'blocked' && was.blockedBy === action.blockedBy && was.heldBy?.id === action.heldBy?.id)
      continue;
    const until = action.until === null ? '' : ` until ${action.until}`;
    const text = `${after.id}  ${ACTION_SYMBOLS.blocked.glyph} ${action.name} ${waitWords(action.blockedBy ?? '')}${until}${describeLockHolder(action, (iso) => iso)}`;
    lines.push({ at: last, text });
  }
  lines.push(...pickLines(before, after, last));
  if (before?.state !== after.state && after.state !== 'running') {
    lines.push({
      at: after.endedAt ?? last,
      text: `${after.id}  ${RELEASE_SYMBOLS[after.state].glyph} ${after.state}${causeWords(after)}`,
    });
  }
  return lines;
}

/** `waits: …`, unless the reason already begins with `waiting`. */
const waitWords = (why: string): string => (why.startsWith('waiting ') ? `is ${why}` : `waits: ${why}`);

/** The reason why a release has not started. */
function formatQueuedLines(
  before: WatchSnapshot['waits'],
  after: WatchSnapshot['waits'],
  release: ReleaseStatus,
): LogLine[] {
  const isLogged = (wait: WaitView): boolean =>
    before.some(({ action, why, until }) => action === null && why === wait.why && until === wait.until);
  return after
    .filter((wait) => wait.action === null && !isLogged(wait))
    .map(({ why, until }) => ({
      at: findLatestTime(release),
      text: `${release.id}  ${RELEASE_SYMBOLS.queued.glyph} waits: ${why}${until === null ? '' : ` until ${until}`}`,
    }));
}

/** The people who may pick, and the command for it. */
function pickLines(before: ReleaseStatus | null, after: ReleaseStatus, at: string): LogLine[] {
  const isOpen = ({ pickBy, endedAt }: ReleaseStatus['actions'][number]): boolean =>
    pickBy !== null && endedAt === null;
  const logged = new Set(before?.actions.filter(isOpen).map(({ name, attempt }) => `${name} ${attempt}`));
  return after.actions
    .filter((action) => isOpen(action) && !logged.has(`${action.name} ${action.attempt}`))
    .map(({ name, pickBy, approval }) => ({
      at,
      text: `${after.id}  ◷ ${name} ${approval ? approvalWords(approval) : `waits for ${pickBy?.join(', ') || 'an owner'}`}: conveyor pick ${after.id}/${name} --approve --reason "…"`,
    }));
}

/** Waiting states, whose summary has the end of the wait, and the outcome; the timeline shows the others. */
const LOGGED_STATES: readonly string[] = ['waiting-lock', 'waiting-window', 'baking'];

function deployLogLines(before: DeployStatus | null, after: DeployStatus): LogLine[] {
  const last = findLatestTime(after);
  const lines = newEntries(before, { ...after, timeline: withoutOwnEnd(after) });
  for (const row of after.health) {
    const was = before?.health.find((one) => one.unit === row.unit && one.check === row.check);
    if (was?.verdict === row.verdict || !(isAlarming(row) || (was !== undefined && isAlarming(was)))) continue;
    const text = `${after.id}  ${VERDICT_SYMBOLS[row.verdict].glyph} ${row.unit} ${row.check} ${row.verdict}: ${row.reason}`;
    lines.push({ at: last, text });
  }
  const now = after.paused?.now;
  if (now?.answers && !before?.paused?.now?.answers)
    lines.push({ at: now.at ?? last, text: `${after.id}  ${PAUSED_SYMBOL.glyph} ${answerWords(now)}` });
  const { word, sign } = deployWord(after);
  const isLogged = LOGGED_STATES.includes(after.state) || after.paused !== null || after.outcome !== null;
  if (isLogged && (before === null || deployWord(before).word !== word)) {
    const why = after.summary === '' ? '' : `: ${after.summary}`;
    lines.push({ at: after.endedAt ?? last, text: `${after.id}  ${sign.glyph} ${word}${why}` });
  }
  return lines;
}

/** Missing data is usual at the start of a phase; the timeline shows the result at the end of the bake. */
const isAlarming = ({ verdict }: HealthRow): boolean => verdict === 'unhealthy' || verdict === 'errored';

interface TimelineOwner {
  readonly id: string;
  readonly startedAt: string;
  readonly timeline: DeployStatus['timeline'];
}

/** Compares entries by content, not by index: timelines only grow, but their oldest entries may be dropped. */
function newEntries(before: TimelineOwner | null, after: TimelineOwner): LogLine[] {
  const keyOf = ({ at, kind, text }: TimelineOwner['timeline'][number]): string => `${at} ${kind} ${text}`;
  const seen = new Set(before?.timeline.map(keyOf));
  return after.timeline
    .filter((entry) => !seen.has(keyOf(entry)))
    .map(({ at, kind, text }) => ({ at, text: `${after.id}  ${kind}: ${text}` }));
}

const findLatestTime = ({ timeline, startedAt }: TimelineOwner): string =>
  timeline.reduce((latest, { at }) => (at > latest ? at : latest), startedAt);
