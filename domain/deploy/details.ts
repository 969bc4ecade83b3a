import { sparkline } from '../sparkline';
import { alignCells, block, list, formatMarkdown, moment, NO_MARKDOWN, sections, type Markdown } from '../markdown';
import type { DeployStatus, HealthRow, PhaseState, PhaseView } from '../views';
import type { Verdict } from '../health/verdict';
import { computeTotals } from './counts';
import { continuesByItself } from './view';

/** The current details of a deploy in the Temporal Web UI: Markdown for a person who has only this page (docs/design/workflows.md#in-the-web-ui). */
export function deployDetails(status: Omit<DeployStatus, 'webUi'>): string {
  return sections(
    formatMarkdown`## ${status.id} → ${status.version}`,
    formatMarkdown`**${deployHeadline(status)}**`,
    describePause(status),
    status.lock ? formatMarkdown`The workflow **${status.lock}** shows the holder of the lock.` : NO_MARKDOWN,
    alignCells(status.phases.map(phaseRow)),
    list(
      'Paused by health, while the others continue',
      (status.pausedGroups ?? [])
        .slice(0, MAX_DETAIL_ROWS)
        .map(({ group, reason }) => formatMarkdown`**${group}** ${reason}`),
    ),
    list('Health', status.health.slice(0, MAX_DETAIL_ROWS).map(healthLine)),
    list(
      'Last steps (UTC)',
      status.timeline.slice(-8).map(({ at, text }) => formatMarkdown`${moment(at)} ${text}`),
    ),
    status.next.length > 0 ? formatMarkdown`Next:\n${block(status.next)}` : NO_MARKDOWN,
  );
}

const MAX_DETAIL_ROWS = 12;

const GLYPHS: Readonly<Record<PhaseState, string>> = {
  waiting: '◷',
  running: '◌',
  succeeded: '✔',
  skipped: '–',
  failed: '✖',
  reverted: '↩',
};

const VERDICT_GLYPHS: Readonly<Record<Verdict, string>> = {
  healthy: '✔',
  unhealthy: '✖',
  inconclusive: '?',
  errored: '⚠',
};

/** The summary, preceded by the outcome if it does not begin with that. */
function deployHeadline({ outcome, summary }: Omit<DeployStatus, 'webUi'>): string {
  return outcome === null || summary.startsWith(outcome) ? summary : `${outcome}: ${summary}`;
}

/** A reason describes the moment of the pause. Only Temporal knows the present state, and shows it on the same page. */
function describePause({ paused }: Omit<DeployStatus, 'webUi'>): Markdown {
  if (paused === null) return NO_MARKDOWN;
  const since = formatMarkdown`Paused since ${moment(paused.at)} UTC.`;
  return continuesByItself(paused)
    ? formatMarkdown`${since} It continues by itself once the dependency works again; *Pending Activities* shows the last try.`
    : since;
}

function phaseRow(phase: PhaseView): string[] {
  const { name, scope, amount, state, bakeUntil, skipped } = phase;
  const { targeted, live } = computeTotals(phase);
  const counts = targeted > 0 ? `${live}/${targeted} live` : '';
  const more = skipped ?? (bakeUntil ? `bakes until ${moment(bakeUntil)} UTC` : '');
  return [`${GLYPHS[state]} ${name}`, `${amount} of ${scope}`, state, counts, more];
}

function healthLine({ unit, check, verdict, reason, recent = [], threshold }: HealthRow): Markdown {
  const line = sparkline(recent, threshold);
  return formatMarkdown`${VERDICT_GLYPHS[verdict]} **${unit} ${check}** ${line === '' ? '' : formatMarkdown`${line} `}${verdict}: ${reason}`;
}
