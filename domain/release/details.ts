import { alignCells, block, code, list, formatMarkdown, Markdown, moment, sections } from '../markdown';
import { releaseAhead } from '../pipeline/ahead';
import { offersRerun } from './rerun';
import type { ActionState, ActionView, ReleaseStatus } from '../views';

const ACTION_GLYPHS: Readonly<Record<ActionState, string>> = {
  waiting: '◷',
  blocked: '◷',
  running: '◌',
  succeeded: '✔',
  failed: '✖',
  cancelled: '✖',
  skipped: '–',
};

/**
 * The current details of a release in the Temporal Web UI (docs/design/workflows.md#in-the-web-ui).
 * @param reverted whether one of its deploys was reverted.
 */
export function releaseDetails(status: Omit<ReleaseStatus, 'webUi'>, reverted = false): string {
  const artifacts = status.artifacts.map(({ name, version }) => code(`${name}@${version}`).source).join(', ');
  return sections(
    formatMarkdown`## ${status.id}`,
    formatMarkdown`**${status.state}${status.cause ? `: ${status.cause}` : ''}** · ${new Markdown(artifacts)} · ${status.trigger.kind}, by ${status.trigger.actor}${status.rerunOf === undefined ? '' : `, rerun of #${status.rerunOf}`}`,
    alignCells(status.actions.map(({ name, type, state }) => [`${ACTION_GLYPHS[state]} ${name}`, type, state])),
    list('Why', status.actions.flatMap(actionReason)),
    list(
      'Last steps (UTC)',
      status.timeline.slice(-8).map(({ at, text }) => formatMarkdown`${moment(at)} ${text}`),
    ),
    formatMarkdown`Next:\n${block(nextSteps(status, reverted))}`,
  );
}

const actionReason = ({ name, blockedBy, message, carriedFrom, lock }: ActionView): Markdown[] => {
  const reason = carriedFrom === undefined ? (blockedBy ?? message) : `carried over, it succeeded in #${carriedFrom}`;
  return reason === null
    ? []
    : [formatMarkdown`${name}: ${reason}${lock ? formatMarkdown` (who: the workflow **${lock}**)` : ''}`];
};

/** This workflow does not know whether the release that it waits for is paused: `status` looks that up when a person asks. */
const ahead = ({ pipeline, actions }: Omit<ReleaseStatus, 'webUi'>): string[] => [
  ...new Set(
    actions.flatMap(({ blockedBy }) => {
      const number = blockedBy === null ? undefined : releaseAhead(blockedBy);
      return number === undefined ? [] : [`conveyor status ${pipeline}/${number} # it is in front, and may be paused`];
    }),
  ),
];

function nextSteps(status: Omit<ReleaseStatus, 'webUi'>, reverted: boolean): string[] {
  const { id, pipeline, actions, endedAt } = status;
  const deploys = actions.flatMap(({ deploy }) => (deploy === null ? [] : [`conveyor status ${deploy}`]));
  const picks = actions.flatMap(({ name, pickBy }) =>
    pickBy === null ? [] : [`conveyor pick ${id}/${name} --approve`],
  );
  return endedAt === null
    ? [`conveyor watch ${id}`, ...picks, ...ahead(status), ...deploys]
    : [
        ...(offersRerun(status, reverted) ? [`conveyor rerun ${id} --reason "…"`] : []),
        ...deploys,
        `conveyor history ${pipeline}`,
      ];
}
