import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import { VERDICT_SIGNS, deployWord, RELEASE_SIGNS, ACTION_SIGNS } from './words';

/** What is watched at one moment: a release with its deploys, or one deploy. */
export interface Watched {
  readonly release: ReleaseStatus | null;
  readonly deploys: readonly DeployStatus[];
}

/**
 * What changed between two looks, as lines that are only ever appended: for logs of CI, where nothing can be redrawn.
 * Nothing changed gives no lines. With no look before, everything so far is told.
 */
export function logLines(before: Watched | null, after: Watched): string[] {
  const lines = [
    ...(after.release === null ? [] : releaseLines(before?.release ?? null, after.release)),
    ...after.deploys.flatMap((deploy) =>
      deployLines(before?.deploys.find((one) => one.id === deploy.id) ?? null, deploy),
    ),
  ];
  return lines
    .sort((a, b) => a.at.localeCompare(b.at))
    .map(({ at, text }) => `${at.replace(/\.\d+Z$/, 'Z')}  ${text}`.trim());
}

interface Line {
  readonly at: string;
  readonly text: string;
}

function releaseLines(before: ReleaseStatus | null, after: ReleaseStatus): Line[] {
  const last = latest(
    after.timeline.map((entry) => entry.at),
    after.startedAt,
  );
  const lines = newEntries(before, after).map((entry) => ({
    at: entry.at,
    text: `${after.id}  ${entry.kind}: ${entry.text}`,
  }));
  for (const action of after.actions) {
    const was = before?.actions.find((one) => one.name === action.name);
    if (was?.state === action.state && was.blockedBy === action.blockedBy) continue;
    if (was === undefined && action.state === 'waiting') continue;
    const why = action.state === 'blocked' || action.state === 'failed' ? (action.blockedBy ?? action.message) : null;
    const at = action.endedAt ?? (action.state === 'running' ? action.startedAt : null) ?? last;
    lines.push({
      at,
      text: `${after.id}  ${ACTION_SIGNS[action.state].glyph} ${action.name} ${action.state}${why ? `: ${why}` : ''}`,
    });
  }
  if (before?.state !== after.state) {
    const cause = after.cause === null ? '' : ` (${after.cause})`;
    const at = after.endedAt ?? (before === null ? after.startedAt : last);
    lines.push({ at, text: `${after.id}  ${RELEASE_SIGNS[after.state].glyph} ${after.state}${cause}` });
  }
  return lines;
}

function deployLines(before: DeployStatus | null, after: DeployStatus): Line[] {
  const last = latest(
    after.timeline.map((entry) => entry.at),
    after.startedAt,
  );
  const lines = newEntries(before, after).map((entry) => ({
    at: entry.at,
    text: `${after.id}  ${entry.kind}: ${entry.text}`,
  }));
  for (const row of after.health) {
    const was = before?.health.find((one) => one.unit === row.unit && one.check === row.check);
    if (was?.verdict === row.verdict) continue;
    lines.push({
      at: last,
      text: `${after.id}  ${VERDICT_SIGNS[row.verdict].glyph} ${row.unit} ${row.check} ${row.verdict}: ${row.reason}`,
    });
  }
  const { word, sign } = deployWord(after);
  if (before === null || deployWord(before).word !== word) {
    const why = after.summary === '' ? '' : `: ${after.summary}`;
    lines.push({ at: after.endedAt ?? last, text: `${after.id}  ${sign.glyph} ${word}${why}` });
  }
  return lines;
}

/** Timelines only grow, but their oldest entries may be dropped: so by what they say, not by their number. */
function newEntries<T extends { readonly timeline: DeployStatus['timeline'] }>(
  before: T | null,
  after: T,
): DeployStatus['timeline'] {
  const seen = new Set(before?.timeline.map((entry) => `${entry.at} ${entry.kind} ${entry.text}`));
  return after.timeline.filter((entry) => !seen.has(`${entry.at} ${entry.kind} ${entry.text}`));
}

const latest = (times: readonly string[], fallback: string): string =>
  times.reduce((a, b) => (b > a ? b : a), fallback);
